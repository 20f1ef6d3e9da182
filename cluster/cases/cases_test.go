package cases

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/script"
)

var rewrite = flag.Bool("rewrite", false, "write README.md anew")

// TestEveryExpectationHolds runs every file as it is, and with networks whose messages
// take a random time more, so that no outcome hangs on two things at the same instant.
func TestEveryExpectationHolds(t *testing.T) {
	for _, c := range All {
		for _, r := range c.Runs {
			t.Run(r.File, func(t *testing.T) {
				t.Parallel()
				for seed := uint64(1); seed <= 5; seed++ {
					s, err := script.Parse(r.File+".lab", r.Source())
					if err != nil {
						t.Fatal(err)
					}
					s.Config.Seed = seed
					if seed > 1 {
						s.Config.Settings = append(s.Config.Settings, cluster.Set{Key: "network.jitter", Value: "2ms"})
					}
					if _, err := s.Run(io.Discard); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			})
		}
	}
}

// changesRule reports whether a run overrides a rule of its line.
func changesRule(r Run) bool { return strings.Contains(r.Source(), "\nrule ") }

// TestInEveryLine runs what is said to end the same in every release line in each of them.
func TestInEveryLine(t *testing.T) {
	for _, c := range All {
		for _, r := range c.Runs {
			for _, line := range protocol.Lines() {
				if !c.EveryLine || line == r.Line() {
					continue
				}
				if strings.Contains(r.Source(), " idempotent\n") && slices.Contains([]protocol.Line{"0.8", "0.9", "0.10"}, line) {
					continue // they have no idempotent producer
				}
				t.Run(r.File+" as "+string(line), func(t *testing.T) {
					t.Parallel()
					s, err := script.ParseAs(r.File+".lab", r.Source(), line)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := s.Run(io.Discard); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestTheLineDecides: run as the other side's line, a file's expectations do not all hold. So
// each side asserts what tells it from the other.
func TestTheLineDecides(t *testing.T) {
	for _, c := range All {
		for _, a := range c.Runs {
			for _, b := range c.Runs {
				if a.How == b.How || a.Line() == b.Line() || c.EveryLine || changesRule(a) != changesRule(b) {
					continue
				}
				t.Run(a.File+" as "+string(b.Line()), func(t *testing.T) {
					t.Parallel()
					s, err := script.ParseAs(a.File+".lab", a.Source(), b.Line())
					if err != nil {
						t.Fatal(err)
					}
					if _, err := s.Run(io.Discard); script.StatusOf(err) != script.Failed {
						t.Errorf("every expectation holds, or it cannot be executed: %v", err)
					}
				})
			}
		}
	}
}

// TestFoldIsSnapshot is the law of package trace on every file, after every statement: the
// fold of the events is the snapshot taken from the nodes.
func TestFoldIsSnapshot(t *testing.T) {
	for _, c := range All {
		for _, r := range c.Runs {
			t.Run(r.File, func(t *testing.T) {
				t.Parallel()
				s, err := script.Parse(r.File+".lab", r.Source())
				if err != nil {
					t.Fatal(err)
				}
				x, err := s.Start()
				if err != nil {
					t.Fatal(err)
				}
				started := true
				for i, st := range s.Statements {
					if _, command := st.Command(); started && (i < s.Setup || command) {
						continue // Start has executed it
					}
					started = false
					if _, err := x.Execute(st); err != nil {
						t.Fatal(err)
					}
					names := x.Cluster().Names()
					have, want := x.State().AppendJSON(nil, names), x.Cluster().Snapshot().AppendJSON(nil, names)
					if !bytes.Equal(have, want) {
						t.Fatalf("line %d: %s: the fold differs from the nodes:\nfold  %s\nnodes %s", st.Line, st, have, want)
					}
				}
			})
		}
	}
}

// TestTheCheckerKnowsThem: what a run breaks of the invariants is put down to a case of
// Kafka's own, unless the run changes a rule of its line, which is no line's fault.
func TestTheCheckerKnowsThem(t *testing.T) {
	for _, c := range All {
		for _, r := range c.Runs {
			if changesRule(r) {
				continue
			}
			t.Run(r.File, func(t *testing.T) {
				t.Parallel()
				s, err := script.Parse(r.File+".lab", r.Source()+"expect invariants hold\n")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Run(io.Discard); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestTheTableIsTheFiles: every file is in the table, once, and the other way round.
func TestTheTableIsTheFiles(t *testing.T) {
	var want []string
	for _, c := range All {
		for _, r := range c.Runs {
			want = append(want, r.File+".lab")
			if !strings.HasPrefix(r.File, c.ID+".") {
				t.Errorf("%s is listed under %s", r.File, c.ID)
			}
		}
	}
	slices.Sort(want)
	have, err := filepath.Glob("*.lab")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(have)
	for _, f := range want {
		if !slices.Contains(have, f) {
			t.Errorf("there is no file %s", f)
		}
	}
	for _, f := range have {
		if !slices.Contains(want, f) {
			t.Errorf("%s is in no case of the table", f)
		}
	}
	if len(slices.Compact(slices.Clone(want))) != len(want) {
		t.Error("a file is in the table twice")
	}
}

// TestAFileIsWhatItsNameSays: it runs the line of its name, begins with a comment that
// names a source and says what is asserted, and asserts something.
func TestAFileIsWhatItsNameSays(t *testing.T) {
	for _, c := range All {
		for _, r := range c.Runs {
			s, err := script.Parse(r.File+".lab", r.Source())
			if err != nil {
				t.Error(err)
				continue
			}
			line := s.Config.Line
			if line == "" {
				line = protocol.DefaultLine
			}
			if line != r.Line() {
				t.Errorf("%s: it runs kafka %s", r.File, line)
			}
			var head strings.Builder
			for row := range strings.Lines(r.Source()) {
				if !strings.HasPrefix(row, "#") {
					break
				}
				head.WriteString(strings.TrimPrefix(row, "#"))
			}
			for _, part := range []string{"Source: ", "Asserts: "} {
				if !strings.Contains(strings.Join(strings.Fields(head.String()), " "), part) {
					t.Errorf("%s: the comment at its head has no %q", r.File, part)
				}
			}
			expects := 0
			for _, st := range s.Statements {
				if strings.HasPrefix(st.String(), "expect ") {
					expects++
				}
			}
			if expects < 3 {
				t.Errorf("%s: it expects %d things", r.File, expects)
			}
		}
	}
}

// TestBothSidesOrAReason: a case happens in one run and does not in another, or the table
// says why there is only one of them.
func TestBothSidesOrAReason(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range All {
		if ids[c.ID] {
			t.Errorf("%s is there twice", c.ID)
		}
		ids[c.ID] = true
		if c.Title == "" || c.Source == "" || c.Shows == "" {
			t.Errorf("%s: no title, source, or what it shows", c.ID)
		}
		fails := slices.ContainsFunc(c.Runs, func(r Run) bool { return r.How == Fails })
		fixed := slices.ContainsFunc(c.Runs, func(r Run) bool { return r.How == Fixed })
		switch {
		case len(c.Runs) == 0 && c.Missing == "":
			t.Errorf("%s: no run and no reason why", c.ID)
		case len(c.Runs) > 0 && fails != fixed && c.Only == "":
			t.Errorf("%s: only one side and no reason why", c.ID)
		case fails && fixed && c.Only != "":
			t.Errorf("%s: both sides, and a reason why there is only one", c.ID)
		}
	}
}

// TestFind: a case is found by its ID.
func TestFind(t *testing.T) {
	if c, ok := Find("KAFKA-1211"); !ok || c.ID != "KAFKA-1211" {
		t.Error("KAFKA-1211 is not found")
	}
	if _, ok := Find("KAFKA-0"); ok {
		t.Error("a case is found that is not there")
	}
}

// TestReadme: README.md is the table.
func TestReadme(t *testing.T) {
	if *rewrite {
		if err := os.WriteFile("README.md", []byte(Readme()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Readme() {
		t.Error("README.md is not what the table says; go test ./cluster/cases -rewrite writes it")
	}
}
