package static_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tidemark/static"
)

func get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if len(header) == 2 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, r)
	return w
}

func TestFilesAreServedForever(t *testing.T) {
	for name, mime := range map[string]string{
		"app.js": "text/javascript; charset=utf-8", "app.css": "text/css; charset=utf-8", "boot.js": "text/javascript; charset=utf-8",
		"inter-latin.woff2": "font/woff2", "icon.svg": "image/svg+xml",
	} {
		w := get(static.URL(name))
		if w.Code != 200 || w.Header().Get("Content-Type") != mime || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %q, %d bytes", name, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		if c := w.Header().Get("Cache-Control"); !strings.Contains(c, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, c)
		}
	}
}

func TestAnOldAddressIsNotKept(t *testing.T) {
	w := get("/static/0123456789abcdef/app.js")
	if w.Code != 200 || w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("got %d, Cache-Control %q", w.Code, w.Header().Get("Cache-Control"))
	}
	if again := get("/static/0123456789abcdef/app.js", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("with the ETag: %d", again.Code)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	for _, path := range []string{"/static/", "/static/app.js", "/static/x/nothing.js", "/static/x/../handler.go", "/static/x/"} {
		if w := get(path); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, static.URL("app.js"), nil))
	if w.Code != 405 {
		t.Errorf("POST: %d", w.Code)
	}
	defer func() {
		if recover() == nil {
			t.Error("URL of no file did not panic")
		}
	}()
	static.URL("nothing.js")
}
