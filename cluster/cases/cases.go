// Package cases is public reports of what went wrong in Kafka's replication, each as
// scenarios of the lab language that assert its outcome, in the line where it happens
// and in the line that repaired it. None of them is this project's own.
//
// A file ID.LINE.lab or ID.LINE.VARIANT.lab is one run. [All] says what it shows.
package cases

import (
	"embed"
	"fmt"
	"strings"

	"tidemark/cluster/protocol"
)

// Case is one public report.
type Case struct {
	// ID is a Jira issue, a KIP, the name of a test, or a few words, as in its files' names.
	ID    string
	Title string
	// Source is where the report can be found.
	Source string
	// Shows is what a reader of the run learns.
	Shows string
	// Runs are its files, in the order in which they are best read.
	Runs []Run
	// EveryLine: its runs end the same in every release line, not only in those of their names.
	EveryLine bool
	// Only is why there is no run in which it happens, or none in which it does not.
	Only string
	// Missing is why it is not reproduced, or what of it is not; empty: it is, whole.
	Missing string
}

// Run is one file.
type Run struct {
	File string // without .lab
	How  How
}

// How is what a run is in its case.
type How uint8

// A run in which the failure happens, and one in which it does not.
const (
	Fails How = iota
	Fixed
)

var hows = [...]string{Fails: "fails", Fixed: "does not"}

func (h How) String() string { return hows[h] }

// Line is the release line that a run's name says.
func (r Run) Line() protocol.Line {
	for _, l := range protocol.Lines() {
		if strings.Contains(r.File+".", "."+string(l)+".") {
			return l
		}
	}
	panic("cases: no release line in the name " + r.File)
}

//go:embed *.lab
var files embed.FS

// Source is a run's text. It panics on a run that is not in [All].
func (r Run) Source() string {
	text, err := files.ReadFile(r.File + ".lab")
	if err != nil {
		panic(fmt.Sprintf("cases: %v", err))
	}
	return string(text)
}

// Find finds a case by its ID.
func Find(id string) (Case, bool) {
	for _, c := range All {
		if c.ID == id {
			return c, true
		}
	}
	return Case{}, false
}
