package search

import (
	"errors"
	"strings"
	"testing"

	"tidemark/cluster/script"
)

// TestShrunkFilesReproduce: failing schedules and walks shrink to a few units, which still
// break the same invariant, and their files fail where they must when they are run.
func TestShrunkFilesReproduce(t *testing.T) {
	for _, x := range []struct {
		name  string
		o     Options
		draw  func(Options, uint64) Schedule
		units int
	}{
		{"safety", planted("hw-waits-for-isr", "off"), Draw, 5},
		{"liveness", planted("control-retries", "off"), Draw, 5},
		{"logs", planted("truncation", "nothing"), Draw, 8},
		{"walk", planted("hw-waits-for-isr", "off"), Walk, 20},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			seed, s, o := find(x.o, x.draw, 100)
			if o.Failure == nil {
				t.Fatal("nothing to shrink was found")
			}
			small, out, runs := Shrink(s, o.Failure, new(Runner).Run, 3000)
			t.Logf("seed %d: %d units became %d in %d runs:\n%s", seed, len(s.Units), len(small.Units), runs, out.Lab())
			if !o.Failure.Same(out.Failure) {
				t.Fatalf("it was %+v and is %+v", o.Failure, out.Failure)
			}
			if len(small.Units) > x.units {
				t.Errorf("%d units are left", len(small.Units))
			}
			again := new(Runner).Run(small)
			if again.Hash != out.Hash {
				t.Error("the shrunk schedule is another run the second time")
			}
			file, err := script.Parse("found.lab", out.Lab())
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.Run(nil)
			var failure *script.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("the file does not fail, but: %v", err)
			}
			lines := strings.Split(strings.TrimSpace(out.Lab()), "\n")
			if failure.Line != len(lines) {
				t.Errorf("line %d fails, not the last, %d: %v", failure.Line, len(lines), err)
			}
		})
	}
}

// TestNothingToShrink: what does not fail is given back.
func TestNothingToShrink(t *testing.T) {
	s := Draw(Options{}, 1)
	small, o, runs := Shrink(s, &Failure{Invariant: AtRest}, new(Runner).Run, 100)
	if runs != 1 || len(small.Units) != len(s.Units) || o.Failure != nil {
		t.Errorf("%d runs, %d units of %d, %+v", runs, len(small.Units), len(s.Units), o.Failure)
	}
}
