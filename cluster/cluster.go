package cluster

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Config is what a cluster is made from. Together with the commands given to it,
// each at its time, it determines everything that happens.
type Config struct {
	Line       protocol.Line // empty: protocol.DefaultLine
	Rules      []RuleOverride
	Seed       uint64
	Brokers    []protocol.Broker
	Controller protocol.Broker // who wins the first election; 0: the lowest id
	Settings   []Set
	Partitions []AddPartition
}

// RuleOverride is rule NAME VALUE.
type RuleOverride struct{ Name, Value string }

// Recording is a run as data: made from Config, with these commands at these times.
type Recording struct {
	Config   Config
	Commands []TimedCommand
}

// TimedCommand is a command and the number of steps that had been taken before it.
type TimedCommand struct {
	At      sim.Time
	Steps   uint64
	Command Command
}

// Cluster is a cluster of brokers, a ZooKeeper and clients on one scheduler. It is
// owned by one goroutine and starts none.
type Cluster struct {
	config   Config
	commands []TimedCommand
	sched    *sim.Scheduler
	recorder *trace.Recorder
	names    *trace.Names
}

// New makes a cluster and lets it settle: leaders elected, every follower's fetch
// waiting at its leader. The present is then time 0. It fails on a config that
// makes no cluster. Sinks get every event from the first; more can be added with
// Observe.
func New(cfg Config, sinks ...func(*trace.Event)) (*Cluster, error) { panic("not yet") }

// Replay makes a cluster again from its recording, up to a time.
func Replay(r Recording, until sim.Time, sinks ...func(*trace.Event)) (*Cluster, error) {
	panic("not yet")
}

// Observe passes every event from now on to f, which must not keep the pointer.
func (c *Cluster) Observe(f func(*trace.Event)) { c.recorder.AddSink(f) }

// Do executes a command at the present time. It is recorded. An error says what is
// wrong with it; then nothing was changed. The number is that of the event that
// records the statement.
func (c *Cluster) Do(cmd Command) (sim.Seq, error) { panic("not yet") }

// Now is the present time.
func (c *Cluster) Now() sim.Time { return c.sched.Now() }

// Next is the time of the next step; a cluster always has one.
func (c *Cluster) Next() (sim.Time, bool) { return c.sched.Next() }

// Step takes exactly one step.
func (c *Cluster) Step() bool { return c.sched.Step() }

// RunUntil takes every step up to and including time t, and makes t the present.
func (c *Cluster) RunUntil(t sim.Time) {
	for {
		at, ok := c.Next()
		if !ok || at > t {
			break
		}
		c.Step()
	}
	c.sched.Advance(t)
}

// Steps counts the steps taken; Seq is the number of the latest event; Hash is the
// running hash over all of them.
func (c *Cluster) Steps() uint64 { return c.sched.Steps() }
func (c *Cluster) Seq() sim.Seq  { return c.recorder.Seq() }
func (c *Cluster) Hash() uint64  { return c.sched.Hash() }

// Names resolves the numbers in events and snapshots.
func (c *Cluster) Names() *trace.Names { return c.names }

// Snapshot is the state of the cluster, taken from its nodes.
func (c *Cluster) Snapshot() *trace.Snapshot { panic("not yet") }

// Recording is the run so far.
func (c *Cluster) Recording() Recording { panic("not yet") }

// Clone is an independent copy of the cluster, without sinks.
func (c *Cluster) Clone() *Cluster { panic("not yet") }

// Rules and Settings are how this cluster behaves.
func (c *Cluster) Rules() protocol.Rules       { panic("not yet") }
func (c *Cluster) Settings() protocol.Settings { panic("not yet") }

// Settled reports whether the cluster has come to rest in the sense of the lab
// language's settle.
func (c *Cluster) Settled() bool { panic("not yet") }

// Node finds a node by its name in the lab language: a broker's id, a client's
// name, zookeeper or zk.
func (c *Cluster) Node(name string) (sim.NodeID, bool) { panic("not yet") }
