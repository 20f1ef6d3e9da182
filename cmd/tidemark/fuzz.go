package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"tidemark/cluster"
	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/script"
	"tidemark/cluster/search"
)

// fuzzOptions are the flags of tidemark fuzz.
type fuzzOptions struct {
	search.Options
	duration time.Duration
	runs     uint64
	seed     uint64
	walk     bool
	find     string // an invariant to look for
	file     string
}

// shrinkRuns bounds the runs that shrinking a failure takes.
const shrinkRuns = 3000

// fuzz runs random schedules until time or runs are out or one breaks an invariant. The
// exit status is 0 when none did, 1 when one did, 2 when the command line is wrong. With
// -find it looks for one invariant, Kafka's own violations included, and the status is 1
// when there was none.
func fuzz(args []string, stdout, stderr io.Writer) int {
	o, err := fuzzFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "tidemark fuzz:", err)
		return 2
	}
	began := time.Now()
	tally := o.search(stderr, began)
	tally.print(stdout, time.Since(began))
	found := 1
	if o.find != "" {
		found = 0
	}
	if tally.bug == nil {
		return 1 - found
	}
	if err := o.report(tally.bug, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "tidemark fuzz:", err)
		return 1
	}
	return found
}

func fuzzFlags(args []string, stderr io.Writer) (*fuzzOptions, error) {
	o := &fuzzOptions{seed: 1}
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	kafka := flags.String("kafka", string(protocol.DefaultLine), "release line")
	flags.Func("set", "KEY=VALUE, a setting of every run; may be given several times", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("it takes KEY=VALUE, such as min.insync.replicas=2")
		}
		o.Settings = append(o.Settings, cluster.Set{Key: key, Value: value})
		return nil
	})
	flags.Func("rule", "NAME=VALUE, a rule of every run in place of the line's; may be given several times", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("it takes NAME=VALUE, such as hw-waits-for-isr=off")
		}
		o.Rules = append(o.Rules, cluster.RuleOverride{Name: name, Value: value})
		return nil
	})
	flags.DurationVar(&o.duration, "for", time.Minute, "for how long to search")
	flags.Uint64Var(&o.runs, "runs", 0, "how many runs to make, in place of -for")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the first run; each further run has the next one")
	flags.BoolVar(&o.walk, "walk", false, "random walks: any message between brokers may be the next to arrive")
	flags.StringVar(&o.find, "find", "", "an invariant to look for, Kafka's own violations of it included; those of others are not bugs then")
	power := flags.Bool("power", true, "power cuts are among the faults")
	flags.StringVar(&o.file, "o", "", "file to write what reproduces a bug to (default tidemark-fuzz-SEED.lab)")
	usage := func() {
		fmt.Fprintln(stderr, "usage: tidemark fuzz [-kafka V] [-set KEY=VALUE]... [-rule NAME=VALUE]... [-for 1m | -runs N] [-seed N] [-walk] [-find INVARIANT] [-power=false] [-o FILE.lab]")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage()
		}
		return nil, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.Line, o.NoPower = protocol.Line(*kafka), !*power
	err := o.Options.Check()
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("it takes flags only, not %q", flags.Arg(0))
	case o.find != "" && !slices.ContainsFunc(check.Invariants, func(i check.Invariant) bool { return i.Name == o.find }):
		return nil, fmt.Errorf("there is no invariant %q; cluster/REFERENCE.md lists them", o.find)
	case given["for"] && given["runs"]:
		return nil, errors.New("-for and -runs exclude each other")
	case given["runs"] && o.runs == 0:
		return nil, errors.New("-runs is at least 1")
	case given["for"] && o.duration <= 0:
		return nil, errors.New("-for is more than 0")
	case err != nil:
		_, message, _ := strings.Cut(err.Error(), ": ")
		return nil, errors.New(message)
	}
	return o, nil
}

// tally is what a search has come to.
type tally struct {
	coverage search.Coverage
	runs     uint64
	steps    uint64
	events   uint64
	virtual  time.Duration
	acked    uint64
	excused  map[string]uint64 // runs, by invariant and excuse
	bug      *bug
}

// bug is a run that failed for no reason that Kafka has.
type bug struct {
	seed     uint64
	schedule search.Schedule
	outcome  search.Outcome
}

func (t *tally) add(o *search.Outcome) {
	t.runs++
	t.steps += o.Steps
	t.events += o.Events
	t.virtual += time.Duration(o.Time) * time.Microsecond
	t.acked += uint64(o.Acked)
	for i := range o.Excused {
		t.excused[o.Excused[i].Invariant+": "+o.Excused[i].Excuse]++
	}
}

// pool hands out seeds to the workers and takes what became of them.
type pool struct {
	sync.Mutex
	next  uint64
	left  uint64
	end   time.Time
	tally tally
}

// take is the next seed to run. After a bug none is handed out any more; the runs under
// way have earlier seeds or the next ones, and the lowest that fails counts, so that the
// result does not depend on who was faster.
func (p *pool) take() (uint64, bool) {
	p.Lock()
	defer p.Unlock()
	if p.left == 0 || p.tally.bug != nil || time.Now().After(p.end) {
		return 0, false
	}
	p.left--
	p.next++
	return p.next - 1, true
}

func (p *pool) put(seed uint64, s search.Schedule, o *search.Outcome) {
	p.Lock()
	defer p.Unlock()
	p.tally.add(o)
	if o.Failure != nil && (p.tally.bug == nil || seed < p.tally.bug.seed) {
		p.tally.bug = &bug{seed, s, *o}
	}
}

// progressEvery is how often a search says how far it is.
const progressEvery = 2 * time.Second

// search runs seeds on all cores.
func (o *fuzzOptions) search(stderr io.Writer, began time.Time) *tally {
	p := &pool{next: o.seed, left: math.MaxUint64, end: began.Add(o.duration)}
	if o.runs > 0 {
		p.left, p.end = o.runs, began.Add(1000*time.Hour)
	}
	p.tally.excused = map[string]uint64{}
	done := make(chan *search.Coverage)
	workers := runtime.GOMAXPROCS(0)
	for range workers {
		go func() {
			runner := &search.Runner{Coverage: &search.Coverage{}, LookFor: o.find}
			for seed, ok := p.take(); ok; seed, ok = p.take() {
				s, outcome := o.one(runner, seed)
				p.put(seed, s, &outcome)
			}
			done <- runner.Coverage
		}()
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for workers > 0 {
		select {
		case c := <-done:
			p.tally.coverage.Add(c)
			workers--
		case <-tick.C:
			p.Lock()
			fmt.Fprintf(stderr, "%s: %d runs, %.1f million events, %.1f virtual hours\n",
				time.Since(began).Round(time.Second), p.tally.runs, float64(p.tally.events)/1e6, p.tally.virtual.Hours())
			p.Unlock()
		}
	}
	return &p.tally
}

// one makes the run of a seed.
func (o *fuzzOptions) one(runner *search.Runner, seed uint64) (search.Schedule, search.Outcome) {
	draw := search.Draw
	if o.walk {
		draw = search.Walk
	}
	s := draw(o.Options, seed)
	return s, safely(runner, s)
}

// commandLine is the search as somebody would type it, but for where it begins and ends.
func (o *fuzzOptions) commandLine() string {
	l := []string{"tidemark fuzz -kafka", string(o.Line)}
	for _, r := range o.Rules {
		l = append(l, "-rule", r.Name+"="+r.Value)
	}
	for _, s := range o.Settings {
		l = append(l, "-set", s.Key+"="+s.Value)
	}
	if o.NoPower {
		l = append(l, "-power=false")
	}
	if o.walk {
		l = append(l, "-walk")
	}
	if o.find != "" {
		l = append(l, "-find", o.find)
	}
	return strings.Join(l, " ")
}

// safely runs a schedule. A panic of the core is a failure, too.
func safely(runner *search.Runner, s search.Schedule) (o search.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = runner.AfterPanic(fmt.Sprint(r))
		}
	}()
	return runner.Run(s)
}

// report shrinks a bug, writes its file and says what it is.
func (o *fuzzOptions) report(b *bug, stdout, stderr io.Writer) error {
	fmt.Fprintf(stderr, "seed %d: %s; shrinking\n", b.seed, b.outcome.Failure.Invariant)
	before := len(b.schedule.Units)
	runner := &search.Runner{LookFor: o.find}
	small, outcome, runs := search.Shrink(b.schedule, b.outcome.Failure, func(s search.Schedule) search.Outcome { return safely(runner, s) }, shrinkRuns)
	f := outcome.Failure
	if f == nil {
		return fmt.Errorf("seed %d failed once and not again: the core is not deterministic", b.seed)
	}
	file := o.file
	if file == "" {
		file = fmt.Sprintf("tidemark-fuzz-%d.lab", b.seed)
	}
	text := fmt.Sprintf("# Found by %s -seed %d: %s is broken at %s.\n# %s\n%s", o.commandLine(), b.seed, f.Invariant, f.At, f.Text, outcome.Lab())
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return err
	}
	verdict := "BUG"
	if o.find != "" {
		verdict = "FOUND"
		if f.Excuse != "" {
			fmt.Fprintf(stdout, "\nAs in Kafka: %s", f.Excuse)
		}
	}
	fmt.Fprintf(stdout, "\n%s: seed %d breaks %s at %s: %s\n%d units became %d in %d runs. Reproduce with\n  tidemark run %s\n",
		verdict, b.seed, f.Invariant, f.At, f.Text, before, len(small.Units), runs, file)
	if err := o.reproduces(file, text); err != nil {
		return fmt.Errorf("the file does not reproduce it: %w", err)
	}
	return nil
}

// reproduces runs a file, which must fail.
func (o *fuzzOptions) reproduces(file, text string) error {
	s, err := script.Parse(file, text)
	if err != nil {
		return err
	}
	var shown strings.Builder
	_, err = s.Run(&shown)
	switch {
	case err == nil && o.find != "" && strings.Contains(shown.String(), o.find+" violated"):
		return nil
	case err == nil:
		return errors.New("every expectation held")
	}
	var broken *script.Error
	if errors.As(err, &broken) && !strings.Contains(broken.Message, "the cluster failed") {
		return err
	}
	return nil
}
