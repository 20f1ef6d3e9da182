package server

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"golang.org/x/text/language"

	"tidemark/static"
)

const languageCookie = "lang"

// spoken are the languages of the catalogues, as a matcher wants them.
var spoken = func() language.Matcher {
	var tags []language.Tag
	for _, l := range static.Languages() {
		tags = append(tags, language.MustParse(static.LanguageTag(l)))
	}
	return language.NewMatcher(tags)
}()

// chooseLanguage is the language of a page: what the address asks for, which is
// remembered, else what was chosen before, else what the browser prefers.
func chooseLanguage(c *gin.Context) string {
	if l := c.Query("lang"); slices.Contains(static.Languages(), l) {
		// The page's program changes the cookie too, so it must be able to.
		http.SetCookie(c.Writer, &http.Cookie{Name: languageCookie, Value: l, Path: "/", MaxAge: 365 * 24 * 3600, SameSite: http.SameSiteLaxMode})
		return l
	}
	if l, err := c.Cookie(languageCookie); err == nil && slices.Contains(static.Languages(), l) {
		return l
	}
	_, i := language.MatchStrings(spoken, c.GetHeader("Accept-Language"))
	return static.Languages()[i]
}
