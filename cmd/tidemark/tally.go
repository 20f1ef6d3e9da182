package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"tidemark/cluster/search"
	"tidemark/cluster/trace"
)

// print prints what a search has come to.
func (t *tally) print(w io.Writer, took time.Duration) {
	fmt.Fprintf(w, "%d runs in %s (%.0f runs/s): %d steps, %d events, %s of virtual time, %d records acknowledged\n",
		t.runs, took.Round(time.Millisecond), float64(t.runs)/took.Seconds(), t.steps, t.events, t.virtual.Round(time.Second), t.acked)

	kinds, all := 0, trace.Kinds()
	var unseen []string
	for _, k := range all {
		if t.coverage.Kinds[k] > 0 {
			kinds++
		} else {
			unseen = append(unseen, k.String())
		}
	}
	fmt.Fprintf(w, "\nReached: %d of %d kinds of event, %d pairs of consecutive ones\n", kinds, len(all), t.coverage.PairsReached())
	fmt.Fprintf(w, "  ISR sizes      %s\n", counts(t.coverage.ISRSizes[:], func(i int) string { return fmt.Sprint(i) }))
	fmt.Fprintf(w, "  leader epochs  %s\n", counts(t.coverage.Epochs[:], search.EpochName))
	fmt.Fprintf(w, "  truncations    %s\n", counts(t.coverage.Truncations[:], func(i int) string { return "to " + trace.How(i).String() }))
	for _, g := range search.Goals() {
		if n := t.coverage.Goals[g]; n > 0 {
			fmt.Fprintf(w, "  %9d  %s\n", n, g)
		}
	}
	fmt.Fprintln(w, "Never reached:")
	for _, g := range search.Goals() {
		if t.coverage.Goals[g] == 0 {
			fmt.Fprintf(w, "  %s\n", g)
		}
	}
	if len(unseen) > 0 {
		fmt.Fprintf(w, "  events %s\n", strings.Join(unseen, ", "))
	}

	if len(t.excused) > 0 {
		fmt.Fprintln(w, "\nBroken as Kafka itself breaks it, in so many runs:")
		for _, name := range slices.Sorted(maps.Keys(t.excused)) {
			fmt.Fprintf(w, "  %9d  %s\n", t.excused[name], name)
		}
	}
	if t.bug == nil {
		fmt.Fprintln(w, "\nNo bug found.")
	}
}

// counts writes the counts that are not 0, each with its name.
func counts(l []uint64, name func(int) string) string {
	var parts []string
	for i, n := range l {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", name(i), n))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
