// Command bundle makes static/dist from static/src. It runs at `go generate
// ./static`, in that directory. With -o it writes elsewhere; with -entry it bundles
// other files for Node instead (the tests do).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("o", "dist", "where to write")
	node := flag.String("node", "", "bundle the files of this pattern for Node instead")
	flag.Parse()
	options := page(*out)
	if *node != "" {
		entries, err := filepath.Glob(*node)
		if err != nil || len(entries) == 0 {
			fmt.Fprintf(os.Stderr, "bundle: no file matches %q\n", *node)
			os.Exit(2)
		}
		options = tests(*out, entries)
	} else if err := os.RemoveAll(*out); err != nil {
		fmt.Fprintf(os.Stderr, "bundle: %v\n", err)
		os.Exit(1)
	}
	if result := api.Build(options); len(result.Errors) > 0 {
		os.Exit(1)
	}
}

// page bundles the program, the styles and what they refer to.
func page(out string) api.BuildOptions {
	return api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/main.ts", OutputPath: "app"},
			{InputPath: "src/boot.ts", OutputPath: "boot"},
			{InputPath: "src/css/app.css", OutputPath: "app"},
			{InputPath: "src/icon.svg", OutputPath: "icon"},
		},
		Outdir:            out,
		Bundle:            true,
		Write:             true,
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8, // Chinese stays readable in the bundle
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsNone,
		AssetNames:        "[name]",
		Loader:            map[string]api.Loader{".woff2": api.LoaderFile, ".svg": api.LoaderCopy},
		LogLevel:          api.LogLevelWarning,
	}
}

// tests bundles each entry into a module that Node runs.
func tests(out string, entries []string) api.BuildOptions {
	return api.BuildOptions{
		EntryPoints:  entries,
		Outdir:       out,
		OutExtension: map[string]string{".js": ".mjs"},
		Bundle:       true,
		Write:        true,
		Format:       api.FormatESModule,
		Platform:     api.PlatformNode,
		Target:       api.ES2022,
		Charset:      api.CharsetUTF8,
		Sourcemap:    api.SourceMapInline,
		LogLevel:     api.LogLevelWarning,
	}
}
