package runner

import (
	"errors"

	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Run is one life of a cluster from time 0, with what executes statements on it.
// The methods are those of [tidemark/cluster.Cluster], but for the last two.
// They are called by the runner's goroutine only. They may panic; that fails the run.
type Run interface {
	Now() sim.Time
	Next() (sim.Time, bool)
	StepUntil(sim.Time) bool // one step, unless it would come later
	RunUntil(sim.Time)
	Snapshot() *trace.Snapshot
	Names() *trace.Names

	// Execute executes a statement at the present time and returns what it prints.
	// When it returns an error, nothing was changed.
	Execute(statement string) (output string, err error)

	// Recording is the run so far as text.
	Recording() string
}

// Make makes a run that behaves as a release line of Kafka. The run must pass every
// event to sink, from number 1.
type Make func(kafka string, sink func(*trace.Event)) (Run, error)

// Status is what a runner does with its run.
type Status struct {
	Playing bool     // virtual time passes; true also while nobody watches and it stands still
	Speed   float64  // virtual time over wall time
	Time    sim.Time // the present, virtual
	Seq     sim.Seq  // the latest event
	Failed  string   // why the run can go on no more; empty: it can
	Full    bool     // the run has all the events it may have
}

// Errors of a runner. A failed or full run can be restarted.
var (
	ErrClosed = errors.New("runner: the cluster is closed")
	ErrFailed = errors.New("runner: the run has failed: restart to begin another")
	ErrFull   = errors.New("runner: the run has all the events it may have: restart to begin another")
	ErrSpeed  = errors.New("runner: speed must be from 0.001 to 20")
	ErrQuiet  = errors.New("runner: nothing has happened in the steps that one request may take")
)
