// Command tidemark shows Kafka's replication happening: it serves the page, and runs
// files of the lab language.
package main

import (
	"fmt"
	"io"
	"os"
)

// subcommands are what the first argument can be. Without one, serve.
var subcommands = map[string]struct {
	doc string
	run func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}{
	"serve": {"serve the page (the default)", func(args []string, _ io.Reader, stdout, stderr io.Writer) int { return serve(args, stdout, stderr) }},
	"run":   {"run files of the lab language", run},
	"fuzz":  {"search for faults that break an invariant", func(args []string, _ io.Reader, stdout, stderr io.Writer) int { return fuzz(args, stdout, stderr) }},
	"version": {"print the version", func(_ []string, _ io.Reader, stdout, _ io.Writer) int {
		fmt.Fprintln(stdout, "tidemark", version())
		return 0
	}},
}

func main() { os.Exit(dispatch(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func dispatch(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	name := "serve"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	if name == "help" {
		fmt.Fprintln(stdout, "tidemark COMMAND -h lists a command's flags. The commands:")
		listCommands(stdout)
		return 0
	}
	cmd, ok := subcommands[name]
	if !ok {
		fmt.Fprintf(stderr, "tidemark: no command %q; there are:\n", name)
		listCommands(stderr)
		return 2
	}
	return cmd.run(args, stdin, stdout, stderr)
}

func listCommands(w io.Writer) {
	for _, n := range []string{"serve", "run", "fuzz", "version"} {
		fmt.Fprintf(w, "  %-8s %s\n", n, subcommands[n].doc)
	}
	fmt.Fprintln(w, "  help     print this")
}
