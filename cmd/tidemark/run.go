package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"tidemark/cluster/script"
	"tidemark/cluster/trace"
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
	status := 0
	for _, file := range flags.Args() {
		source, err := readSource(file, stdin)
		if err != nil {
			fmt.Fprintln(stderr, "tidemark run:", err)
			status = 2
			continue
		}
		for _, seed := range seeds {
			status = max(status, o.one(file, source, seed, stdout, stderr))
		}
	}
	return status
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

// outcome is what -json prints of a run.
type outcome struct {
	File   string `json:"file"`
	Seed   uint64 `json:"seed"`
	Kafka  string `json:"kafka"`
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	Events uint64 `json:"events"`
	TimeUS int64  `json:"timeUs"`
}

func (o *runOptions) one(file, source string, seed *uint64, stdout, stderr io.Writer) int {
	s, err := script.Parse(file, source)
	if err == nil && o.kafka != "" {
		err = s.SetKafka(o.kafka)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return int(script.StatusOf(err))
	}
	if seed != nil {
		s.Config.Seed = *seed
	}
	show := stdout
	if o.json {
		show = io.Discard
	}
	var sinks []func(*trace.Event)
	var events []trace.Event
	if o.trace != "" {
		sinks = append(sinks, func(e *trace.Event) { events = append(events, *e) })
	}
	x, err := s.Run(show, sinks...)
	status := int(script.StatusOf(err))
	if err != nil && !o.json {
		if seed != nil {
			fmt.Fprintf(stderr, "seed %d: ", *seed)
		}
		fmt.Fprintln(stderr, err)
	}
	if o.json {
		out := outcome{File: file, Seed: s.Config.Seed, Kafka: string(s.Config.Line), Status: status}
		if err != nil {
			out.Error = err.Error()
		}
		if x != nil {
			out.Events, out.TimeUS = uint64(x.Cluster().Seq()), int64(x.Cluster().Now())
		}
		json.NewEncoder(stdout).Encode(out)
	}
	if o.trace != "" && x != nil {
		if err := writeTrace(o.trace, x, events); err != nil {
			fmt.Fprintln(stderr, "tidemark run:", err)
			return 2
		}
	}
	return status
}

// writeTrace writes a header line and a line an event. Names are complete only at the
// end of a run, hence not as it goes.
func writeTrace(file string, x *script.Session, events []trace.Event) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	cfg := x.Cluster().Recording().Config
	fmt.Fprintf(w, "{\"format\":1,\"kafka\":%q,\"seed\":%d}\n", cfg.Line, cfg.Seed)
	var line []byte
	for i := range events {
		line = append(events[i].AppendJSON(line[:0], x.Cluster().Names()), '\n')
		w.Write(line)
	}
	return errors.Join(w.Flush(), f.Close())
}
