package search

import (
	"testing"

	"tidemark/cluster/protocol"
)

// TestSeeds runs a fixed number of seeds over all release lines: no invariant is broken
// for a reason that Kafka itself does not have, and the cluster converges.
func TestSeeds(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 5
	}
	for _, line := range protocol.Lines() {
		acked, excused := 0, map[string]int{}
		for seed := uint64(1); seed <= n; seed++ {
			o := new(Runner).Run(Draw(Options{Line: line}, seed))
			acked += o.Acked
			for _, f := range o.Excused {
				excused[f.Invariant+": "+f.Excuse]++
			}
			if f := o.Failure; f != nil {
				t.Errorf("%s, seed %d: %s at %s (%s): %s\n%s", line, seed, f.Invariant, f.At, f.Cause, f.Text, "")
			}
		}
		t.Logf("%s: %d acknowledged, excused: %v", line, acked, excused)
		if acked == 0 {
			t.Errorf("%s: no record was ever acknowledged: the runs reached nothing", line)
		}
	}
}
