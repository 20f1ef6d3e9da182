package server

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"tidemark/static"
)

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	r := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAVisitorGetsAClusterOfTheirOwn(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		first := w.get("/")
		location := first.Header.Get("Location")
		if !regexp.MustCompile(`^/c/[A-Za-z0-9_-]{22}$`).MatchString(location) {
			t.Errorf("Location %q: want 128 bits", location)
		}
		cookie := first.Cookies()[0]
		if cookie.Name != "tidemark_cluster" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" {
			t.Errorf("cookie %v", cookie)
		}
		if again := w.get("/", "Cookie", cookie.Name+"="+cookie.Value); again.Header.Get("Location") != location {
			t.Error("the same visitor was sent to another cluster")
		}
		for name, value := range map[string]string{"none": "", "unknown": newID(), "nonsense": "../../x"} {
			if other := w.get("/", "Cookie", cookie.Name+"="+value); other.Header.Get("Location") == location || other.StatusCode != http.StatusSeeOther {
				t.Errorf("cookie %s: %s to %s", name, other.Status, other.Header.Get("Location"))
			}
		}
	})
}

func TestPages(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		for _, c := range []struct {
			name, path string
			headers    []string
			code       int
			has        []string
		}{
			{"the page", "/c/" + id, nil, 200, []string{`lang="en"`, `data-cluster="` + id + `"`, `data-socket="/c/` + id + `/socket"`, static.URL("app.js")}},
			{"in Chinese by the address", "/c/" + id + "?lang=zh", nil, 200, []string{`lang="zh-Hans"`}},
			{"in Chinese by the cookie", "/c/" + id, []string{"Cookie", "lang=zh", "Accept-Language", "en"}, 200, []string{`lang="zh-Hans"`}},
			{"in Chinese by the browser", "/c/" + id, []string{"Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8"}, 200, []string{`lang="zh-Hans"`}},
			{"the address before the cookie", "/c/" + id + "?lang=en", []string{"Cookie", "lang=zh"}, 200, []string{`lang="en"`}},
			{"a language that nobody has", "/c/" + id + "?lang=xx", []string{"Accept-Language", "fr;q=0.9, xx"}, 200, []string{`lang="en"`}},
			{"a language list gone wrong", "/c/" + id, []string{"Accept-Language", ";;q=,,\x00" + strings.Repeat("a-", 500)}, 200, []string{`lang="en"`}},
			{"a cluster that is gone", "/c/" + newID(), nil, 404, []string{`lang="en"`, `href="/"`, static.Text("en", "gone.title")}},
			{"gone, in Chinese", "/c/x?lang=zh", nil, 404, []string{`lang="zh-Hans"`, `href="/"`, static.Text("zh", "gone.title")}},
			{"the recording of one that is gone", "/c/x/recording", nil, 404, []string{`href="/"`}},
			{"no such page", "/nowhere", nil, 404, []string{"there is no such page"}},
			{"no such file", "/static/x/../../server.go", nil, 404, nil},
			{"no directory listing", "/static/", nil, 404, nil},
		} {
			resp := w.get(c.path, append(c.headers, "Host", "odd host:99999")...)
			text := body(t, resp)
			if resp.StatusCode != c.code {
				t.Errorf("%s: %s", c.name, resp.Status)
			}
			for _, s := range c.has {
				if !strings.Contains(text, s) {
					t.Errorf("%s: no %s in\n%.600s", c.name, s, text)
				}
			}
			if got := resp.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "unsafe") {
				t.Errorf("%s: policy %q", c.name, got)
			}
			if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Referrer-Policy") != "same-origin" {
				t.Errorf("%s: headers %v", c.name, resp.Header)
			}
		}
	})
}

// What the policy forbids would silently not work.
func TestPagesHaveNothingInline(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		inline := regexp.MustCompile(`(?i)<script(?:[^>]*[^>s])?>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:`)
		for _, path := range []string{"/c/" + w.cluster(), "/c/gone"} {
			if found := inline.FindString(body(t, w.get(path))); found != "" {
				t.Errorf("%s has %q inline", path, found)
			}
		}
	})
}

func TestLanguageIsRemembered(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		resp := w.get("/?lang=zh")
		for _, c := range resp.Cookies() {
			if c.Name == "lang" && c.Value == "zh" && c.MaxAge > 0 {
				return
			}
		}
		t.Errorf("cookies %v", resp.Cookies())
	})
}

func TestAssets(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		url := static.URL("app.css")
		resp := w.get(url)
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/css") || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s %v", url, resp.Status, resp.Header)
		}
		text := body(t, resp)
		zipped := w.get(url, "Accept-Encoding", "gzip, br")
		if zipped.Header.Get("Content-Encoding") != "gzip" || body(t, zipped) != text {
			t.Errorf("compressed: %v", zipped.Header)
		}
		if font := w.get(static.URL("inter-latin.woff2"), "Accept-Encoding", "gzip"); font.Header.Get("Content-Encoding") != "" {
			t.Error("a compressed typeface was compressed again")
		}
		if same := w.get(url, "If-None-Match", resp.Header.Get("ETag")); same.StatusCode != http.StatusNotModified {
			t.Errorf("with the tag: %s", same.Status)
		}
		if post := do(w.server, http.MethodPost, url); post.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST: %s", post.Status)
		}
	})
}

func TestHealth(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.cluster()
		w.open(w.cluster())
		var h struct {
			Status, Version       string
			Clusters, Connections int
		}
		resp := w.get("/healthz")
		if err := json.Unmarshal([]byte(body(t, resp)), &h); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 || h.Status != "ok" || h.Version != "test" || h.Clusters != 2 || h.Connections != 1 {
			t.Errorf("%s %+v", resp.Status, h)
		}
	})
}

func TestAPanicIsAnAnswer(t *testing.T) {
	s := New(Config{Make: makeFake})
	s.registry = nil // so that the handler panics
	if resp := do(s, http.MethodGet, "/healthz"); resp.StatusCode != http.StatusInternalServerError {
		t.Error(resp.Status)
	}
}
