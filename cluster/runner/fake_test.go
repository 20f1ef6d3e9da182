package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// fakeRun takes a step every so often; what a step does is up to the test.
type fakeRun struct {
	kafka string
	every sim.Time
	sink  func(*trace.Event)
	names trace.Names

	now, next sim.Time
	seq       sim.Seq
	steps     int
	onStep    func(*fakeRun) // default: one event
	log       []string
}

func newFake(kafka string, sink func(*trace.Event)) *fakeRun {
	f := &fakeRun{kafka: kafka, every: 10 * sim.Millisecond, sink: sink, names: trace.Names{Nodes: []string{"zookeeper", "1"}}}
	f.next = f.every
	return f
}

func (f *fakeRun) emit(kind trace.Kind, text string) {
	f.seq++
	f.sink(&trace.Event{Seq: f.seq, Time: f.now, Kind: kind, Node: 1, Text: text})
}

func (f *fakeRun) Now() sim.Time          { return f.now }
func (f *fakeRun) Next() (sim.Time, bool) { return f.next, f.next != sim.Never }
func (f *fakeRun) Names() *trace.Names    { return &f.names }
func (f *fakeRun) Recording() string      { return strings.Join(f.log, "\n") }

func (f *fakeRun) StepUntil(t sim.Time) bool {
	if f.next > t {
		return false
	}
	f.now, f.steps = f.next, f.steps+1
	f.next += f.every
	if f.onStep != nil {
		f.onStep(f)
	} else {
		f.emit(trace.BrokerStarted, "")
	}
	return true
}

func (f *fakeRun) RunUntil(t sim.Time) {
	for f.StepUntil(t) {
	}
	f.now = max(f.now, t)
}

func (f *fakeRun) Snapshot() *trace.Snapshot { return &trace.Snapshot{Seq: f.seq, Time: f.now} }

func (f *fakeRun) Execute(statement string) (string, error) {
	switch statement {
	case "panic":
		panic("core: invariant broken")
	case "bad":
		return "", errors.New("1:1: unknown statement")
	case "show":
		return "shown", nil
	}
	f.log = append(f.log, fmt.Sprintf("%d %s", f.now, statement))
	f.emit(trace.StatementExecuted, statement)
	f.emit(trace.BrokerStopped, "")
	return "", nil
}

// start makes a runner over fake runs; latest points at the present one, which a
// test may look at while the runner is idle (after synctest.Wait).
func start(t *testing.T, change func(*Config), set ...func(*fakeRun)) (r *Runner, latest func() *fakeRun) {
	t.Helper()
	var present *fakeRun
	cfg := Config{Kafka: "0.10", Limits: DefaultLimits(), Make: func(kafka string, sink func(*trace.Event)) (Run, error) {
		if kafka == "none" {
			return nil, errors.New("no such line")
		}
		present = newFake(kafka, sink)
		for _, f := range set {
			f(present)
		}
		return present, nil
	}}
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, func() *fakeRun { return present }
}

// reader folds what a subscription tells, and checks that it is without gaps.
type reader struct {
	t       *testing.T
	sub     *Subscription
	updates []Update
	run     int
	next    sim.Seq
	status  Status
	time    sim.Time
}

func watch(t *testing.T, r *Runner) *reader {
	t.Helper()
	sub, err := r.Subscribe(context.Background(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rd := &reader{t: t, sub: sub}
	rd.read()
	return rd
}

// read asks for one update and waits for it, at most a minute.
func (rd *reader) read() Update {
	rd.t.Helper()
	if err := rd.sub.Ask(context.Background()); err != nil {
		rd.t.Fatal(err)
	}
	select {
	case u := <-rd.sub.Updates():
		rd.take(u)
		return u
	case <-time.After(time.Minute):
		rd.t.Fatal("no update within a minute")
		panic("unreachable")
	}
}

// quiet asks and checks that nothing comes for a while.
func (rd *reader) quiet(d time.Duration) {
	rd.t.Helper()
	if err := rd.sub.Ask(context.Background()); err != nil {
		rd.t.Fatal(err)
	}
	select {
	case u := <-rd.sub.Updates():
		rd.t.Fatalf("an update came: %+v", u)
	case <-time.After(d):
	}
}

func (rd *reader) take(u Update) {
	rd.t.Helper()
	rd.updates = append(rd.updates, u)
	if u.Snapshot != nil {
		var s struct {
			Seq  sim.Seq
			Time sim.Time
		}
		if err := json.Unmarshal(u.Snapshot, &s); err != nil {
			rd.t.Fatalf("snapshot %s: %v", u.Snapshot, err)
		}
		rd.run, rd.next = u.Run, s.Seq+1
	}
	if u.Run != rd.run || u.From != rd.next {
		rd.t.Fatalf("update is of run %d from %d, want run %d from %d", u.Run, u.From, rd.run, rd.next)
	}
	for _, e := range u.Events {
		var x struct {
			Seq  sim.Seq
			Time sim.Time
		}
		if err := json.Unmarshal(e, &x); err != nil {
			rd.t.Fatalf("event %s: %v", e, err)
		}
		if x.Seq != rd.next {
			rd.t.Fatalf("event %d came, want %d", x.Seq, rd.next)
		}
		if x.Time > u.Time {
			rd.t.Fatalf("event at %v in an update of %v", x.Time, u.Time)
		}
		rd.next++
	}
	rd.time = u.Time
	if u.Changed {
		rd.status = u.Status
	}
}

func (rd *reader) events() (n int) {
	for _, u := range rd.updates {
		n += len(u.Events)
	}
	return n
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
