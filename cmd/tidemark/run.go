package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/script"
)

// runOptions are the flags of tidemark run.
type runOptions struct {
	kafka, seed, seeds, trace string
	json                      bool
}

// run runs files of the lab language. What they show goes to stdout, everything else to
// stderr. The exit status is the highest of the files': 0 all expectations held, 1 one
// did not, 2 a file cannot be read or executed.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var o runOptions
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.kafka, "kafka", "", "release line, in place of the file's")
	flags.StringVar(&o.seed, "seed", "", "seed, in place of the file's")
	flags.StringVar(&o.seeds, "seeds", "", "run with every seed of a range, such as 1..200")
	flags.StringVar(&o.trace, "trace", "", "write every event to this file as JSON lines")
	flags.BoolVar(&o.json, "json", false, "print the outcome of every run as a JSON object")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: tidemark run [-kafka V] [-seed N] [-seeds 1..200] [-trace FILE.jsonl] [-json] FILE.lab...  (- reads standard input)")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	seeds, err := o.seedList()
	if err != nil {
		fmt.Fprintln(stderr, "tidemark run:", err)
		return 2
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return 2
	}
	if o.kafka != "" {
		if _, err := protocol.RulesOf(protocol.Line(o.kafka)); err != nil {
			fmt.Fprintln(stderr, "tidemark run: -kafka:", strings.TrimPrefix(err.Error(), "protocol: "))
			return 2
		}
	}
	trace, closeTrace, err := o.openTrace()
	if err != nil {
		fmt.Fprintln(stderr, "tidemark run:", err)
		return 2
	}
	status := 0
	for _, file := range flags.Args() {
		for _, out := range o.file(file, seeds, trace, stdin, stdout) {
			status = max(status, out.Status)
			o.report(out, stdout, stderr)
		}
	}
	if err := closeTrace(); err != nil {
		fmt.Fprintln(stderr, "tidemark run:", err)
		return 2
	}
	return status
}

// openTrace opens the file of -trace, if there is to be one.
func (o *runOptions) openTrace() (io.Writer, func() error, error) {
	if o.trace == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.Create(o.trace)
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriter(f)
	return w, func() error { return errors.Join(w.Flush(), f.Close()) }, nil
}

func readSource(file string, stdin io.Reader) (string, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, script.MaxFileBytes+1))
	return string(b), err
}

// maxSeeds bounds a range of seeds.
const maxSeeds = 1_000_000

// seedList is the seeds to run with; one nil stands for the file's own.
func (o *runOptions) seedList() ([]*uint64, error) {
	switch {
	case o.seed != "" && o.seeds != "":
		return nil, errors.New("-seed and -seeds exclude each other")
	case o.seed != "":
		n, err := strconv.ParseUint(o.seed, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-seed takes a whole number, not %q", o.seed)
		}
		return []*uint64{&n}, nil
	case o.seeds != "":
		a, b, ok := strings.Cut(o.seeds, "..")
		from, err1 := strconv.ParseUint(a, 10, 64)
		to, err2 := strconv.ParseUint(b, 10, 64)
		if !ok || err1 != nil || err2 != nil || to < from || to-from >= maxSeeds {
			return nil, fmt.Errorf("-seeds takes a range such as 1..200, at most %d seeds, not %q", maxSeeds, o.seeds)
		}
		var l []*uint64
		for n := from; n <= to; n++ {
			l = append(l, &n)
		}
		return l, nil
	}
	return []*uint64{nil}, nil
}

// outcome is a run, as -json prints it: one object a line.
type outcome struct {
	File   string        `json:"file"`
	Kafka  protocol.Line `json:"kafka,omitempty"`
	Seed   *uint64       `json:"seed,omitempty"`
	Status int           `json:"status"` // as the exit status
	Error  *problem      `json:"error,omitempty"`
	Time   int64         `json:"time"`   // virtual, microseconds, at the end
	Events uint64        `json:"events"` // that happened
	Hash   string        `json:"hash,omitempty"`
	Show   string        `json:"show,omitempty"` // what it showed
	err    error
	named  bool // the seed comes from the command line
}

// problem is an error in parts.
type problem struct {
	Line      int      `json:"line,omitempty"`
	Column    int      `json:"column,omitempty"`
	Statement string   `json:"statement,omitempty"`
	Message   string   `json:"message"`
	Events    []string `json:"events,omitempty"` // the last ones that touched it
}

func problemOf(err error) *problem {
	var e *script.Error
	var f *script.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return &problem{Line: e.Line, Column: e.Column, Message: e.Message}
	case errors.As(err, &f):
		return &problem{Line: f.Line, Statement: f.Statement, Message: f.Message, Events: f.Events}
	}
	return &problem{Message: err.Error()}
}

// file runs a file with each of the seeds, as the outcomes are asked for.
func (o *runOptions) file(file string, seeds []*uint64, trace io.Writer, stdin io.Reader, stdout io.Writer) iter.Seq2[int, outcome] {
	return func(yield func(int, outcome) bool) {
		source, err := readSource(file, stdin)
		if err != nil {
			yield(0, outcome{File: file, Status: int(script.Broken), err: err})
			return
		}
		s, err := script.ParseAs(file, source, protocol.Line(o.kafka))
		if err != nil {
			yield(0, outcome{File: file, Status: int(script.StatusOf(err)), err: err})
			return
		}
		s.Trace = trace
		for i, seed := range seeds {
			if seed != nil {
				s.Config.Seed = *seed
			}
			if !yield(i, o.once(s, seed != nil, stdout)) {
				return
			}
		}
	}
}

// once runs a script.
func (o *runOptions) once(s *script.Script, named bool, stdout io.Writer) outcome {
	var shown strings.Builder
	show := stdout
	if o.json {
		show = &shown
	}
	x, err := s.Run(show)
	seed := s.Config.Seed
	out := outcome{File: s.File, Kafka: s.Config.Line, Seed: &seed, Status: int(script.StatusOf(err)), Show: shown.String(), err: err, named: named}
	if out.Kafka == "" {
		out.Kafka = protocol.DefaultLine
	}
	if x != nil {
		c := x.Cluster()
		out.Time, out.Events, out.Hash = int64(c.Now()), uint64(c.Seq()), fmt.Sprintf("%016x", c.Hash())
	}
	return out
}

// report tells of an outcome: errors on standard error, or everything as JSON.
func (o *runOptions) report(out outcome, stdout, stderr io.Writer) {
	if o.json {
		out.Error = problemOf(out.err)
		b, err := json.Marshal(out)
		if err != nil {
			panic(err) // strings and numbers
		}
		fmt.Fprintf(stdout, "%s\n", b)
		return
	}
	if out.err == nil {
		return
	}
	if out.named {
		fmt.Fprintf(stderr, "seed %d: ", *out.Seed)
	}
	fmt.Fprintln(stderr, out.err)
}
