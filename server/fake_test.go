package server

import (
	"errors"
	"fmt"
	"strings"

	"tidemark/cluster/runner"
	"tidemark/cluster/script"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// fakeRun has a step with one event every 10 ms of virtual time. It stands in for the
// core where a test is about the server alone.
type fakeRun struct {
	kafka     string
	sink      func(*trace.Event)
	names     trace.Names
	now, next sim.Time
	seq       sim.Seq
	log       []string
}

const fakeStep = 10 * sim.Millisecond

func makeFake(kafka string, sink func(*trace.Event)) (runner.Run, error) {
	if kafka != "0.10" && kafka != "2.4" {
		return nil, errors.New("server: there is no line " + kafka)
	}
	return &fakeRun{kafka: kafka, sink: sink, names: trace.Names{Nodes: []string{"zookeeper", "1"}}, next: fakeStep}, nil
}

func (f *fakeRun) emit(kind trace.Kind, text string) {
	f.seq++
	f.sink(&trace.Event{Seq: f.seq, Time: f.now, Kind: kind, Node: 1, Text: text})
}

func (f *fakeRun) Now() sim.Time          { return f.now }
func (f *fakeRun) Next() (sim.Time, bool) { return f.next, true }
func (f *fakeRun) Names() *trace.Names    { return &f.names }
func (f *fakeRun) Recording() string      { return strings.Join(f.log, "\n") }

func (f *fakeRun) StepUntil(t sim.Time) bool {
	if f.next > t {
		return false
	}
	f.now, f.next = f.next, f.next+fakeStep
	f.emit(trace.BrokerStarted, "")
	return true
}

func (f *fakeRun) RunUntil(t sim.Time) {
	for f.StepUntil(t) {
	}
	f.now = max(f.now, t)
}

func (f *fakeRun) Snapshot() *trace.Snapshot {
	return &trace.Snapshot{Seq: f.seq, Time: f.now, Brokers: []trace.BrokerState{{ID: 1}}}
}

func (f *fakeRun) Execute(statement string) (string, error) {
	switch {
	case statement == "panic":
		panic("core: invariant broken")
	case statement == "show brokers":
		return "broker 1 up\n", nil
	case !strings.HasPrefix(statement, "stop broker"):
		return "", &script.Error{Line: 1, Column: 3, Message: "unknown statement"}
	}
	f.log = append(f.log, fmt.Sprintf("%d %s", f.now, statement))
	f.emit(trace.StatementExecuted, statement)
	f.emit(trace.BrokerStopped, "")
	return "", nil
}
