package views_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"tidemark/static"
	"tidemark/views"
)

func page(lang string) views.Page {
	return views.Page{
		Lang: lang, LangTag: static.LanguageTag(lang), ClusterID: "abc", SocketPath: "/c/abc/socket",
		Text:  func(key string) string { return static.Text(lang, key) },
		Asset: static.URL,
	}
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	inline   = regexp.MustCompile(`<script(?:\s[^>]*)?></script>|<script[^>]*>`)
	labelled = regexp.MustCompile(`data-t="([^"]+)"[^>]*>([^<]*)<`)
	missing  = regexp.MustCompile(`\[[a-z]+(\.[a-z_]+)+\]`)
)

func TestPagesKeepThePolicy(t *testing.T) {
	for _, lang := range static.Languages() {
		for name, html := range map[string]string{
			"cluster": render(t, views.ClusterPage(page(lang))), "gone": render(t, views.Gone(page(lang))),
		} {
			if strings.Contains(html, " style=") {
				t.Errorf("%s, %s: a style attribute, which the policy forbids", name, lang)
			}
			for _, tag := range inline.FindAllString(html, -1) {
				if !strings.Contains(tag, "src=") {
					t.Errorf("%s, %s: an inline script, which the policy forbids: %s", name, lang, tag)
				}
			}
			if m := missing.FindString(html); m != "" {
				t.Errorf("%s, %s: no text for %s", name, lang, m)
			}
			if want := `lang="` + static.LanguageTag(lang) + `"`; !strings.Contains(html, want) {
				t.Errorf("%s, %s: no %s", name, lang, want)
			}
		}
	}
}

func TestTextsCanBeChanged(t *testing.T) {
	for _, lang := range static.Languages() {
		html := render(t, views.ClusterPage(page(lang)))
		found := labelled.FindAllStringSubmatch(html, -1)
		if len(found) < 10 {
			t.Fatalf("%s: only %d texts can be changed", lang, len(found))
		}
		for _, m := range found {
			if want := templ.EscapeString(static.Text(lang, m[1])); m[2] != want {
				t.Errorf("%s: %s shows %q, the catalogue has %q", lang, m[1], m[2], want)
			}
		}
	}
}

func TestThePageKnowsItsCluster(t *testing.T) {
	html := render(t, views.ClusterPage(page("en")))
	for _, want := range []string{`data-cluster="abc"`, `data-socket="/c/abc/socket"`, static.URL("app.js"), static.URL("app.css"), static.URL("boot.js")} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s", want)
		}
	}
}
