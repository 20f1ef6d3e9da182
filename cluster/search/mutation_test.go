package search

import (
	"testing"

	"tidemark/cluster"
	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
)

// find runs seeds from 1 on until a run fails, and returns its seed, schedule and outcome.
func find(o Options, runs uint64) (uint64, Schedule, Outcome) {
	runner := new(Runner)
	for seed := uint64(1); seed <= runs; seed++ {
		s := Draw(o, seed)
		if out := runner.Run(s); out.Failure != nil {
			return seed, s, out
		}
	}
	return 0, Schedule{}, Outcome{}
}

func planted(rules ...string) Options {
	o := Options{Line: "2.4"}
	for i := 0; i < len(rules); i += 2 {
		o.Rules = append(o.Rules, cluster.RuleOverride{Name: rules[i], Value: rules[i+1]})
	}
	return o
}

// TestPlantedBugsAreFound is the test of the tests: with one rule broken on purpose, the
// search finds it within so many runs of fixed seeds. The runs are about three times what
// it takes today, so that a change of the schedules does not fail this.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of runs")
	}
	// What breaks when committed records go; which of them breaks first is a matter of timing.
	committed := []string{check.WeakISR, check.StrongISR, check.CommittedStays, check.CommittedAgrees, check.LeaderComplete, check.LogMatching}
	for _, c := range []struct {
		name  string
		o     Options
		runs  uint64
		wants []string // any of these invariants
	}{
		{"the HW does not wait for the ISR", planted("hw-waits-for-isr", "off"), 50, committed},
		{"no truncation", planted("truncation", "nothing"), 300, append([]string{LogsAgree, FullISR}, committed...)},
		{"truncation to the HW", planted("truncation", "high-watermark"), 1000, nil},
		{"truncation in one round", planted("truncation", "one-round"), 9000, nil},
		{"no fence", planted("truncation", "iterative", "fetch-fencing", "off"), 9000, append([]string{LogsAgree}, committed...)},
		{"joining the ISR too early", planted("expand-at-epoch-start", "off"), 9000, committed},
		{"no epoch at an election", planted("stamp-epoch", "off"), 6000, append([]string{LogsAgree}, committed...)},
		{"control requests are sent once", planted("control-retries", "off"), 60, []string{FullISR, HasLeader, AtRest, Answered, ProbeAcked}},
		{"lost answers of ZooKeeper are not read again", planted("reread-refused-isr-write", "off"), 1500, []string{FullISR}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed, _, o := find(c.o, c.runs)
			if o.Failure == nil {
				t.Fatalf("not found in %d runs", c.runs)
			}
			t.Logf("found by seed %d: %s: %s", seed, o.Failure.Invariant, o.Failure.Text)
			found := c.wants == nil
			for _, w := range c.wants {
				found = found || w == o.Failure.Invariant
			}
			if !found {
				t.Errorf("it broke %s, not one of %v", o.Failure.Invariant, c.wants)
			}
		})
	}
}

// TestSameSeedSameRun: a run is a function of its options and seed.
func TestSameSeedSameRun(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		o := Options{Line: protocol.Lines()[seed%uint64(len(protocol.Lines()))]}
		a := new(Runner).Run(Draw(o, seed))
		b := (&Runner{Coverage: &Coverage{}}).Run(Draw(o, seed))
		c := (&Runner{Unchecked: true}).Run(Draw(o, seed))
		if a.Hash != b.Hash || a.Events != b.Events || a.Hash != c.Hash {
			t.Errorf("seed %d: hash %x with %d events, then %x with %d, unchecked %x", seed, a.Hash, a.Events, b.Hash, b.Events, c.Hash)
		}
	}
}
