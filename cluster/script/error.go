package script

import (
	"fmt"
	"strings"
)

// Error says where a file is wrong, or which statement could not be executed.
// Line and Column count from 1; Column counts characters. Line is 0 when the file
// as a whole is meant.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return position(e.File, e.Line, e.Column) + e.Message }

// Failure is an expect that does not hold, or a run until or settle that ran out.
type Failure struct {
	File      string
	Line      int
	Statement string   // as written canonically
	Message   string   // what is true instead
	Events    []string // the last ones that touched it, oldest first
}

func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(position(f.File, f.Line, 0))
	b.WriteString(f.Statement)
	b.WriteString(": ")
	b.WriteString(f.Message)
	for _, e := range f.Events {
		b.WriteString("\n\t")
		b.WriteString(e)
	}
	return b.String()
}

func position(file string, line, column int) string {
	s := file
	if line > 0 {
		if s != "" {
			s += ":"
		}
		s += fmt.Sprint(line)
		if column > 0 {
			s += fmt.Sprint(":", column)
		}
	}
	if s != "" {
		s += ": "
	}
	return s
}

// coreText takes the package's name off an error of the core: a person who reads
// a script's errors has no use for it.
func coreText(err error) string {
	s := err.Error()
	for _, prefix := range []string{"cluster: ", "protocol: "} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s
}

// nearest is the word with the least edit distance, the earlier one of equals.
func nearest(word string, words []string) string {
	best, distance := "", 1<<30
	for _, w := range words {
		if d := editDistance(word, w); d < distance {
			best, distance = w, d
		}
	}
	return best
}

// editDistance is Levenshtein's, where a swap of neighbours counts once too.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}
