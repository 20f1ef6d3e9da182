package protocol

import (
	"fmt"
	"testing"
)

// TestValues: every text keeps the one number it was given, in a table and in its clones,
// which do not know of each other.
func TestValues(t *testing.T) {
	v := NewValues()
	for i := range 1000 {
		text := fmt.Sprint("P", i)
		if n, added := v.AddNew(text); !added || n != Value(i) {
			t.Fatalf("%s has number %d, added %t", text, n, added)
		}
		if n, added := v.AddNew(text); added || n != Value(i) {
			t.Fatalf("%s, added again, has number %d", text, n)
		}
	}
	c := v.Clone()
	if v.Add("") != 1000 || c.Add("only in the clone") != 1000 {
		t.Error("the next numbers are not 1000")
	}
	if _, ok := v.Find("only in the clone"); ok {
		t.Error("the original knows what was added to the clone")
	}
	for i := range 1000 {
		for _, table := range []*Values{v, c} {
			if n, ok := table.Find(fmt.Sprint("P", i)); !ok || n != Value(i) || table.Text(n) != fmt.Sprint("P", i) {
				t.Fatalf("P%d is found as %d, %t", i, n, ok)
			}
		}
	}
	if _, ok := c.Find("P1000"); ok {
		t.Error("P1000 is found")
	}
}
