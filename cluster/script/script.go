package script

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
)

// Statement is one line that was read.
type Statement struct {
	phrase
	File string
	Line int
}

// Command is what the statement does to a cluster, if it does something: it does
// not when it makes a cluster, lets time pass, asserts or shows.
func (s Statement) Command() (cluster.Command, bool) {
	if s.form == nil || s.form.statement.command == nil {
		return nil, false
	}
	return s.form.statement.command(s.args), true
}

// DrivesTime reports whether the statement lets time pass or goes back in it.
func (s Statement) DrivesTime() bool { return s.form != nil && s.form.statement.drives }

// Format writes a statement canonically: reading that gives the same statement.
func Format(s Statement) string { return s.String() }

// errorf is an error about the statement.
func (s Statement) errorf(format string, a ...any) *Error {
	return &Error{File: s.File, Line: s.Line, Column: 1, Message: fmt.Sprintf(format, a...)}
}

// ParseLine reads one statement that is to be executed where ctx says what there
// is; with a nil ctx names are not looked up. Its errors are of type *Error, without
// file and line.
func ParseLine(line string, ctx *Context) (Statement, error) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	l, err := tokens(line)
	if err != nil {
		return Statement{}, err
	}
	st, err := parseTokens(l, ctx)
	if err != nil {
		return Statement{}, err
	}
	return st, nil
}

func parseTokens(l []token, ctx *Context) (Statement, *Error) {
	p := newParser(ctx, l)
	ph, ok := p.phrase(statementForms, "a statement")
	if !ok {
		return Statement{}, p.err()
	}
	if ctx != nil && ctx.running && ph.form.statement.atStart {
		return Statement{}, &Error{Column: l[0].column, Message: fmt.Sprintf("%q makes a new cluster, so it can stand only at the start, before everything else", l[0].text)}
	}
	return Statement{phrase: ph}, nil
}

// Script is a file that was read as a whole.
type Script struct {
	File string
	// Config is what the cluster is made from: the file's setup lines. It may be
	// changed before the script runs.
	Config cluster.Config
	// Statements are all of the file's, in order. The first Setup of them make the
	// cluster; what of these is a command without a place in Config (producers and
	// readers) is executed at time 0.
	Statements []Statement
	Setup      int
	// Trace, where it is set, gets a line of JSON an event when the script runs: first
	// a header, see tracefile.go.
	Trace io.Writer
}

// Parse reads a file. Nothing of a file with an error in it can be executed. The
// error is an *Error.
func Parse(file, source string) (*Script, error) { return ParseAs(file, source, "") }

// ParseAs reads a file as if it said kafka LINE, whatever it says; with an empty line,
// as it is.
func ParseAs(file, source string, line protocol.Line) (*Script, error) {
	if line != "" {
		if _, err := protocol.RulesOf(line); err != nil {
			return nil, &Error{File: file, Message: coreText(err)}
		}
	}
	if len(source) > MaxFileBytes {
		return nil, &Error{File: file, Message: fmt.Sprintf("a file has at most %d bytes, this one %d", MaxFileBytes, len(source))}
	}
	s := &Script{File: file, Config: cluster.Config{Seed: 1}}
	ctx := newContext()
	ctx.anyLine = line != ""
	number := 0
	for row := range strings.Lines(strings.TrimPrefix(source, "\ufeff")) {
		number++
		st, err := s.parseLine(strings.TrimSuffix(strings.TrimSuffix(row, "\n"), "\r"), ctx)
		if err != nil {
			err.File, err.Line = file, number
			return nil, err
		}
		if st.form == nil {
			continue
		}
		if len(s.Statements) == MaxStatements {
			return nil, &Error{file, number, 1, fmt.Sprintf("a file has at most %d statements", MaxStatements)}
		}
		st.File, st.Line = file, number
		s.Statements = append(s.Statements, st)
		if !ctx.running {
			s.Setup = len(s.Statements)
			if configure := st.form.statement.configure; configure != nil {
				configure(&s.Config, st.args)
			}
		}
		s.note(ctx, st)
	}
	if s.Config.Brokers == nil {
		finishBrokers(ctx)
		s.Config.Brokers = slices.Clone(ctx.brokers)
	}
	if line != "" {
		s.Config.Line = line
	}
	return s, nil
}

// parseLine reads a line of a file, of which the zero Statement is a blank one. At
// the first statement that is not setup, the cluster is made.
func (s *Script) parseLine(line string, ctx *Context) (Statement, *Error) {
	l, err := tokens(line)
	if err != nil || l[0].kind == end {
		return Statement{}, err
	}
	if !ctx.running && !s.opensWithSetup(l[0].text) {
		finishBrokers(ctx)
		ctx.running = true
		if s.Config.Brokers == nil {
			s.Config.Brokers = slices.Clone(ctx.brokers)
		}
	}
	return parseTokens(l, ctx)
}

// opensWithSetup reports whether a setup statement can start with a word. An
// unknown word is left for the parser to complain about.
func (s *Script) opensWithSetup(w string) bool {
	known := false
	for _, f := range statementForms {
		if slices.Contains(f.parts[0].words, w) {
			known = true
			if f.statement.atStart || f.statement.setup {
				return true
			}
		}
	}
	return !known
}

// finishBrokers gives a file without a brokers line its brokers: those of the
// assignments, or 1 2 3.
func finishBrokers(ctx *Context) {
	if len(ctx.brokers) == 0 {
		ctx.brokers = []protocol.Broker{1, 2, 3}
	}
}

// note keeps what later lines can refer to.
func (s *Script) note(ctx *Context, st Statement) {
	if st.form.statement.atStart && s.Config.Brokers != nil {
		ctx.brokers, ctx.assumed = slices.Clone(s.Config.Brokers), false
	}
	if cmd, ok := st.Command(); ok {
		ctx.declare(cmd)
	}
	switch {
	case strings.HasPrefix(st.form.text, "mark "):
		ctx.marks[st.args[0].(string)] = ctx.clone()
	case strings.HasPrefix(st.form.text, "rewind "):
		name := st.args[0].(string)
		back := ctx.marks[name]
		marks := ctx.marks
		*ctx = *back.clone()
		// A mark made later than this one is no longer ahead of us.
		for n, m := range marks {
			if n == name || ctx.marks[n] != nil {
				ctx.marks[n] = m
			}
		}
	}
}

//go:embed article.lab
var article string

// ArticleConfig is the cluster that a newcomer sees first, on a release line: the
// article's picture of four brokers and two partitions, with a little traffic. It
// panics on a line that has no rules.
func ArticleConfig(line protocol.Line) *Script {
	if _, err := protocol.RulesOf(line); err != nil {
		panic("script: " + err.Error())
	}
	s, err := Parse("article.lab", strings.ReplaceAll(article, "kafka LINE", "kafka "+string(line)))
	if err != nil {
		panic("script: " + err.Error())
	}
	return s
}
