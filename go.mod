module tidemark

go 1.26.0

require (
	github.com/a-h/templ v0.3.1100 // indirect
	github.com/evanw/esbuild v0.28.2 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
