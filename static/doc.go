// Package static is everything the browser gets besides the page itself: the
// bundle of the page's program and its styles, the typeface, and the catalogues of
// its texts. All of it is inside the binary.
//
// The sources are TypeScript and CSS in src; `go generate ./static` bundles them
// into dist with the esbuild that go.mod pins, and dist is committed, so building
// needs neither Node nor a network. The bundler is a program of its own because an
// embedding package does not compile while dist is empty.
//
// The catalogues (src/i18n, one JSON file a language) are read by the page and, with
// [Text], by whoever renders it, so that a text exists once.
//
// The bundler does not check types. Where npm is at hand, this does:
//
//	npx -y -p typescript@5.9 tsc -p static
//
// The package imports nothing of ours: it knows nothing about clusters. What the
// page knows about them is the JSON of cluster/trace, and the tests here hold the
// page's fold of events to the one in Go.
package static

//go:generate go run ./bundle
