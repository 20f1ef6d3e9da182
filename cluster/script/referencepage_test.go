package script

import (
	"os"
	"testing"
)

// TestReferencePage: the page in the repository is what the code says.
func TestReferencePage(t *testing.T) {
	const file = "../REFERENCE.md"
	have := ReferencePage()
	if *rewrite {
		if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != have {
		t.Error("the reference is not up to date: go test ./cluster/script -rewrite", err)
	}
}
