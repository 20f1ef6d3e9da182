package protocol

import "testing"

// TestNoLineHasAPlantedBug: what is in the table to see what finds it is in no release line,
// the kinder network included.
func TestNoLineHasAPlantedBug(t *testing.T) {
	for _, l := range Lines() {
		r, err := RulesOf(l)
		if err != nil {
			t.Fatal(err)
		}
		if !r.HWWaitsForISR || !r.ControlRetries || !r.SeparateConnections || !r.RereadRefusedISRWrite || r.Truncation == TruncateNothing {
			t.Errorf("%s: %+v", l, r)
		}
	}
}

// TestRulesAreOverriddenByName: every entry can be set to each of its values and says so,
// and names and values that are not there are errors that list those that are.
func TestRulesAreOverriddenByName(t *testing.T) {
	for _, rule := range RuleTable {
		var r Rules
		for _, value := range rule.Values {
			if err := r.Override(rule.Name, value); err != nil || rule.Value(&r) != value {
				t.Errorf("%s %s: %v, is %s", rule.Name, value, err, rule.Value(&r))
			}
		}
		if err := r.Override(rule.Name, "x"); err == nil {
			t.Errorf("%s x is accepted", rule.Name)
		}
	}
	var r Rules
	if err := r.Override("x", "on"); err == nil {
		t.Error("rule x is accepted")
	}
	if _, err := RulesOf("3.0"); err == nil {
		t.Error("there is a line 3.0")
	}
}

// TestLinesDiffer: no two lines are the same, and each default of unclean election is its time's.
func TestLinesDiffer(t *testing.T) {
	seen := map[Rules]Line{}
	for _, l := range Lines() {
		r, _ := RulesOf(l)
		if s := NewSettings(&r); s.UncleanLeaderElection != (l == "0.8" || l == "0.9" || l == "0.10") {
			t.Errorf("%s: unclean election %t", l, s.UncleanLeaderElection)
		}
		r.Line, r.Release = "", ""
		if other, ok := seen[r]; ok {
			t.Errorf("%s is %s", l, other)
		}
		seen[r] = l
	}
}
