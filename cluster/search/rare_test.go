package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidemark/cluster/script"
)

// TestRareFindings: what the search found too rarely for a test to search again. Each file
// plants a bug with a rule and fails in its last statement; without the rule it holds.
func TestRareFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.lab")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			run := func(text string) error {
				s, err := script.Parse(name, text)
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Run(nil)
				return err
			}
			var failure *script.Failure
			if err := run(string(text)); !errors.As(err, &failure) || failure.Line != strings.Count(string(text), "\n") {
				t.Errorf("with the planted bug: %v", err)
			}
			healthy := ""
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, "rule ") {
					healthy += line
				}
			}
			if err := run(healthy); err != nil {
				t.Errorf("without it: %v", err)
			}
		})
	}
}
