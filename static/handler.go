package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// Prefix is where [Handler] is to be mounted.
const Prefix = "/static/"

//go:embed dist
var dist embed.FS

// file is one served file.
type file struct {
	data []byte
	mime string
}

// files are the files of dist by name; version is a hash over all of them. The
// version is a directory in every address, so that what a file refers to by a
// relative address has the same version as itself.
var files, version = load()

func load() (map[string]file, string) {
	m, h := map[string]file{}, sha256.New()
	entries, err := fs.ReadDir(dist, "dist")
	if err != nil {
		panic(err) // embedded: cannot fail
	}
	for _, e := range entries {
		data, err := fs.ReadFile(dist, "dist/"+e.Name())
		if err != nil {
			panic(err)
		}
		h.Write([]byte(e.Name()))
		h.Write(data)
		m[e.Name()] = file{data, contentType(e.Name())}
	}
	return m, hex.EncodeToString(h.Sum(nil))[:16]
}

// contentType does not depend on the machine's own table.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// URL is the address of a file: app.js, app.css, boot.js, icon.svg. The address
// changes when any file does. It panics for a name that is no file, which is a
// mistake in a template.
func URL(name string) string {
	if _, ok := files[name]; !ok {
		panic("static: no file " + name)
	}
	return Prefix + version + "/" + name
}

// Handler serves what [URL] points to, below [Prefix]: forever under the present
// version, with a revalidation under any other, so that a page from before an
// update still finds its files.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "static: only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		v, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, Prefix), "/")
		f, found := files[name]
		if !ok || !found {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.mime)
		h.Set("X-Content-Type-Options", "nosniff")
		tag := `"` + version + `"`
		h.Set("ETag", tag)
		if v == version {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(f.data)
	})
}
