package search

import (
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/script"
)

// TestLabIsTheRun: the file of a run makes the same run, event by event.
func TestLabIsTheRun(t *testing.T) {
	for i, line := range protocol.Lines() {
		for seed := uint64(1); seed <= 40; seed++ {
			o := new(Runner).Run(Draw(Options{Line: line}, seed+uint64(1000*i)))
			if o.Failure != nil {
				continue
			}
			s, err := script.Parse("run.lab", o.recording.Lab(o.Time))
			if err != nil {
				t.Fatal(err)
			}
			x, err := s.Run(nil)
			if err != nil {
				t.Fatal(err)
			}
			if c := x.Cluster(); c.Hash() != o.Hash || uint64(c.Seq()) != o.Events || c.Now() != o.Time {
				t.Errorf("%s, seed %d: the file's run has %d events until %s, the run had %d until %s", line, seed, c.Seq(), c.Now(), o.Events, o.Time)
			}
		}
	}
}
