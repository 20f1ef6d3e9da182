package script

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what scenarios show into their files")

// TestScenarios runs the files in cluster/testdata. A file is made of blocks with a
// blank line between: statements, and if they show something or fail, a line of four
// dashes and that. A block that starts with "kafka" (comments aside) makes a new
// cluster; the blocks after it go on with it. After a failed expectation the block
// goes on, so that a file can show what does not hold.
//
//	go test ./cluster/script -rewrite
//
// writes what is shown into the files, to be read in a diff.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			have := playScenario(filepath.Base(file), string(source))
			if have == string(source) {
				return
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(have), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Error(firstDifference(string(source), have))
		})
	}
}

// block is a piece of a scenario.
type block struct {
	line   int // of its first line, from 1
	source string
	output string
}

// blocks takes a file apart.
func blocks(source string) []block {
	var l []block
	var b block
	output, fresh := false, true
	flush := func() {
		if b.source != "" {
			l = append(l, b)
		}
		b, output, fresh = block{}, false, true
	}
	number := 0
	for line := range strings.Lines(source) {
		number++
		switch {
		case strings.TrimSpace(line) == "":
			flush()
			continue
		case strings.TrimSpace(line) == "----":
			output = true
			continue
		}
		if fresh {
			b.line, fresh = number, false
		}
		if output {
			b.output += line
		} else {
			b.source += line
		}
	}
	flush()
	return l
}

// makesCluster reports whether a block starts a new cluster.
func (b block) makesCluster() bool {
	for line := range strings.Lines(b.source) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return strings.HasPrefix(line, "kafka ")
		}
	}
	return false
}

// playScenario runs a file and writes it again with what it shows now.
func playScenario(name, source string) string {
	l := blocks(source)
	for i := 0; i < len(l); {
		k := i + 1
		for k < len(l) && !l[k].makesCluster() {
			k++
		}
		playCluster(name, l[i:k])
		i = k
	}
	var b strings.Builder
	for i, x := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(x.source)
		if x.output != "" {
			b.WriteString("----\n" + x.output)
		}
	}
	return b.String()
}

// playCluster runs the blocks of one cluster and puts what each shows into it. Lines
// are numbered within the cluster's statements, without what is shown: a file's golden
// parts must not change when one of them grows.
func playCluster(name string, l []block) {
	var source strings.Builder
	var ends []int // the last line of each block in source
	lines := 0
	for i := range l {
		l[i].output = ""
		source.WriteString(l[i].source)
		lines += strings.Count(l[i].source, "\n")
		ends = append(ends, lines)
	}
	blockOf := func(line int) *block {
		for i, end := range ends {
			if line <= end {
				return &l[i]
			}
		}
		return &l[len(l)-1]
	}
	show := func(line int, text string) {
		b := blockOf(line)
		b.output += strings.ReplaceAll(text, "\t", "    ")
	}
	s, err := Parse("", source.String())
	var e *Error
	if errors.As(err, &e) {
		show(e.Line, err.Error()+"\n")
		return
	}
	x, done, err := s.start(nil)
	if errors.As(err, &e) {
		show(max(e.Line, 1), err.Error()+"\n")
		return
	}
	for _, st := range s.Statements[done:] {
		r, err := x.Execute(st)
		show(st.Line, r.Output)
		var f *Failure
		switch {
		case errors.As(err, &f):
			f.Line = 0
			show(st.Line, "FAILED "+f.Error()+"\n")
		case err != nil:
			show(st.Line, "ERROR "+err.Error()+"\n")
			return
		}
	}
}

// firstDifference shows where two texts part.
func firstDifference(want, have string) string {
	w, h := strings.Split(want, "\n"), strings.Split(have, "\n")
	i := 0
	for i < len(w) && i < len(h) && w[i] == h[i] {
		i++
	}
	from := max(i-3, 0)
	cut := func(l []string) string { return strings.Join(l[min(from, len(l)):min(i+8, len(l))], "\n") }
	return fmt.Sprintf("line %d differs (go test ./cluster/script -rewrite writes what is shown now)\n--- file\n%s\n--- now\n%s", i+1, cut(w), cut(h))
}
