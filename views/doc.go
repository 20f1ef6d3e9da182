// Package views is the HTML of the pages, as templ components, and the view models
// that they are rendered from. It imports nothing of ours: whoever renders a page
// passes the texts and the addresses of the assets in the [Page].
//
//	p := views.Page{
//		Lang: "zh", LangTag: static.LanguageTag("zh"),
//		ClusterID: id, SocketPath: "/c/" + id + "/socket",
//		Text: func(key string) string { return static.Text("zh", key) },
//		Asset: static.URL,
//	}
//	err := views.ClusterPage(p).Render(ctx, w)
//
// The pages carry no inline script and no style attribute, so they work under
// `default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';
// img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'`.
//
// Every element with a data-t attribute shows the text under that key, and one with
// data-t-label has it as its label: the page's program puts another language there
// without loading the page again.
//
// The generated files are committed; `go generate ./views` makes them again.
package views

//go:generate go tool -modfile=../tools.mod templ generate
