package cases

import (
	"fmt"
	"strings"
)

const readmeHead = `# Public failure cases

Reports of what went wrong in Kafka's replication, each as runs that assert its outcome. Every file begins with what happened, where it is reported and what
it asserts. ` + "`go test ./cluster/cases`" + ` runs them all; one is run, and its end shown, with

    go run ./cmd/tidemark run cluster/cases/KAFKA-1211.0.10.lab

A file's name is the case, the release line, and where a case has several runs in a line a word for this one. This page is written from the table in
` + "`all.go`" + ` by ` + "`go test ./cluster/cases -rewrite`" + `; a test holds the two equal.

`

// Readme is the page that lists all cases.
func Readme() string {
	var b strings.Builder
	b.WriteString(readmeHead)
	b.WriteString("| case | what it shows | it happens | it does not |\n|---|---|---|---|\n")
	for _, c := range All {
		if len(c.Runs) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| **%s** %s | %s | %s | %s |\n", c.ID, c.Title, c.Shows, c.links(Fails), c.links(Fixed))
	}
	b.WriteString("\n## Why a column is empty, or a part is missing\n\n")
	for _, c := range All {
		if len(c.Runs) > 0 && c.Only+c.Missing != "" {
			fmt.Fprintf(&b, "- **%s**: %s\n", c.ID, strings.TrimSpace(c.Only+" "+c.Missing))
		}
	}
	b.WriteString("\n## Not reproduced\n\n| case | what it shows | why not |\n|---|---|---|\n")
	for _, c := range All {
		if len(c.Runs) == 0 {
			fmt.Fprintf(&b, "| **%s** %s | %s | %s |\n", c.ID, c.Title, c.Shows, c.Missing)
		}
	}
	b.WriteString("\n## Sources\n\n")
	for _, c := range All {
		fmt.Fprintf(&b, "- **%s**: %s\n", c.ID, c.Source)
	}
	return b.String()
}

// links are the runs of one kind, as links to their files.
func (c Case) links(h How) string {
	var l []string
	for _, r := range c.Runs {
		if r.How == h {
			name := strings.TrimPrefix(r.File, c.ID+".")
			l = append(l, fmt.Sprintf("[%s](%s.lab)", strings.Replace(name, string(r.Line())+".", string(r.Line())+" ", 1), r.File))
		}
	}
	if len(l) > 0 && c.EveryLine {
		l = append(l, "every line")
	}
	return strings.Join(l, ", ")
}
