package server

import (
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

// policy is the content security policy of every answer: nothing inline, nothing
// from elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// headers are on every answer. Whoever knows a page's address drives its cluster, so
// the address must not leak as a referrer.
func headers(c *gin.Context) {
	c.Header("Content-Security-Policy", policy)
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("X-Frame-Options", "SAMEORIGIN")
	c.Header("Referrer-Policy", "same-origin")
	c.Header("Cross-Origin-Opener-Policy", "same-origin")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

func stack() string { return string(debug.Stack()) }
