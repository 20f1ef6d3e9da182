package server

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"tidemark/static"
	"tidemark/views"
)

// clusterCookie has the id of the visitor's own cluster.
const clusterCookie = "tidemark_cluster"

// home sends a visitor to their own cluster, and makes it when there is none.
func (s *Server) home(c *gin.Context) {
	chooseLanguage(c) // so that it is remembered
	c.Header("Cache-Control", "no-store")
	id, err := c.Cookie(clusterCookie)
	if err == nil {
		if _, ok := s.registry.find(id); ok {
			c.Redirect(http.StatusSeeOther, "/c/"+id)
			return
		}
	}
	h, err := s.registry.create()
	if err != nil {
		s.cfg.Log.Warn("no cluster for a visitor", "error", err)
		c.Header("Retry-After", "60")
		message := "no cluster can be made at present: try again in a minute"
		if errors.Is(err, errClusters) {
			message = "as many clusters are running here as there may be: try again in a minute"
		}
		plain(c.Writer, http.StatusServiceUnavailable, message)
		return
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: clusterCookie, Value: h.id, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.Request.TLS != nil,
	})
	c.Redirect(http.StatusSeeOther, "/c/"+h.id)
}

// clusterPage is the page of a cluster, or says that it is gone.
func (s *Server) clusterPage(c *gin.Context) {
	id := c.Param("id")
	p := page(chooseLanguage(c))
	if _, ok := s.registry.find(id); !ok {
		s.render(c, http.StatusNotFound, views.Gone(p))
		return
	}
	p.ClusterID, p.SocketPath = id, "/c/"+id+"/socket"
	s.render(c, http.StatusOK, views.ClusterPage(p))
}

func page(lang string) views.Page {
	return views.Page{
		Lang: lang, LangTag: static.LanguageTag(lang), Asset: static.URL,
		Text: func(key string) string { return static.Text(lang, key) },
	}
}

// render answers with a page. It is complete before anything is sent, so that what
// goes wrong in it is an error and not half a page.
func (s *Server) render(c *gin.Context, code int, page templ.Component) {
	var b bytes.Buffer
	if err := page.Render(c.Request.Context(), &b); err != nil {
		s.cfg.Log.Error("a page cannot be rendered", "error", err)
		plain(c.Writer, http.StatusInternalServerError, "something went wrong here")
		return
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Vary", "Accept-Language, Cookie")
	c.Data(code, "text/html; charset=utf-8", b.Bytes())
}

// recording is the run of a cluster as text, also of one that failed: what is needed
// to make it happen again.
func (s *Server) recording(c *gin.Context) {
	h, ok := s.registry.find(c.Param("id"))
	if !ok {
		s.render(c, http.StatusNotFound, views.Gone(page(chooseLanguage(c))))
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.cfg.Limits.Answer)
	defer cancel()
	text, err := h.runner.Recording(ctx)
	if err != nil {
		message, _ := explain(err)
		plain(c.Writer, http.StatusServiceUnavailable, message)
		return
	}
	c.Header("Content-Disposition", `attachment; filename="tidemark.lab"`)
	c.Header("Cache-Control", "no-store")
	c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}
