package cluster

import (
	"fmt"
	"slices"
	"strconv"

	"tidemark/cluster/broker"
	"tidemark/cluster/client"
	"tidemark/cluster/coord"
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

// Cluster is a cluster of brokers, a ZooKeeper and clients on one scheduler. It is
// owned by one goroutine and starts none.
type Cluster struct {
	config      Config
	commands    []TimedCommand
	rules       protocol.Rules
	settings    *protocol.Settings
	shared      *protocol.Config // what the nodes share
	sched       *sim.Scheduler
	recorder    *trace.Recorder
	names       *trace.Names
	zookeeper   *coord.Server
	machines    []*broker.Machine // by broker id; nil where there is none
	clients     []sim.Node        // by node id − firstClient
	frozenAt    [protocol.MaxBrokers + 1]sim.Time
	heldControl protocol.Brokers
	began       uint64         // steps taken before time 0
	ledger      trace.Snapshot // only its Records: what producers were told
}

// firstClient is the node id of the first client: ZooKeeper and the brokers come before.
const firstClient sim.NodeID = protocol.MaxBrokers + 1

// MaxClients bounds the producers and consumers of a cluster.
const MaxClients = 24

// The initial settling happens before time 0, over a fast network.
const (
	settlingBegins  = -2 * sim.Second
	settlingLatency = sim.Millisecond
	// othersBegin is how much later the brokers start that shall not be the first controller.
	othersBegin = 100 * sim.Millisecond
	// partitionsBegin is how much later partitions are created: all brokers have
	// registered, so that each partition gets the leader its assignment prefers.
	partitionsBegin = 500 * sim.Millisecond
)

// New makes a cluster and lets it settle: leaders elected, every follower's fetch
// waiting at its leader. The present is then time 0. It fails on a config that
// makes no cluster. Sinks get every event from the first; more can be added with
// Observe.
func New(cfg Config, sinks ...func(*trace.Event)) (*Cluster, error) {
	c, err := build(cfg, sinks)
	if err != nil {
		return nil, err
	}
	first := cfg.Controller
	if first == 0 {
		first = slices.Min(cfg.Brokers)
	}
	c.sched.Add(sim.NodeID(first), c.machines[first])
	c.RunUntil(settlingBegins + othersBegin)
	for id, m := range c.machines {
		if m != nil && protocol.Broker(id) != first {
			c.sched.Add(sim.NodeID(id), m)
		}
	}
	c.RunUntil(settlingBegins + partitionsBegin)
	for _, p := range cfg.Partitions {
		p.apply(c)
	}
	c.RunUntil(0)
	c.applyNetwork()
	c.recorder.Outside(0, trace.Event{Kind: trace.RunBegan})
	for id, m := range c.machines {
		if m != nil {
			c.sched.Tell(sim.NodeID(id), broker.Begin{})
		}
	}
	c.began = c.Steps()
	return c, nil
}

// build checks a config and makes the cluster as it is before its brokers start.
func build(cfg Config, sinks []func(*trace.Event)) (*Cluster, error) {
	if cfg.Line == "" {
		cfg.Line = protocol.DefaultLine
	}
	rules, err := protocol.RulesOf(cfg.Line)
	if err != nil {
		return nil, err
	}
	for _, r := range cfg.Rules {
		if err := rules.Override(r.Name, r.Value); err != nil {
			return nil, err
		}
	}
	settings := protocol.NewSettings(&rules)
	c := &Cluster{config: cfg, rules: rules, settings: &settings, recorder: trace.NewRecorder()}
	c.names = &trace.Names{Partitions: &protocol.Catalog{}, Values: protocol.NewValues(), Nodes: make([]string, firstClient)}
	c.names.Nodes[coord.NodeID] = "zookeeper"
	c.zookeeper = coord.NewServer(c.names.Partitions)
	c.shared = &protocol.Config{Rules: &c.rules, Settings: c.settings, Catalog: c.names.Partitions, Values: c.names.Values}
	c.recorder.AddSink(c.keepLedger)
	for _, f := range sinks {
		c.recorder.AddSink(f)
	}
	c.sched = sim.NewScheduler(cfg.Seed, settlingBegins, c.recorder)
	c.sched.SetLatency(settlingLatency, 0)
	if !rules.SeparateConnections {
		c.sched.ShareConnections()
	}
	c.recorder.Outside(settlingBegins, trace.Event{Kind: trace.StatementExecuted, Text: "kafka " + string(cfg.Line)})
	c.zookeeper.Prepare(c.recorder)
	c.sched.Add(coord.NodeID, c.zookeeper)
	if err := c.addBrokers(); err != nil {
		return nil, err
	}
	for _, s := range cfg.Settings {
		if err := c.settings.Set(s.Topic, s.Key, s.Value); err != nil {
			return nil, err
		}
	}
	for i, p := range cfg.Partitions {
		if err := p.check(c); err != nil {
			return nil, err
		}
		for _, q := range cfg.Partitions[:i] {
			if q.Partition == p.Partition {
				return nil, fmt.Errorf("cluster: partition %s is there already", p.Partition)
			}
		}
		if i >= protocol.MaxPartitions {
			return nil, fmt.Errorf("cluster: more than %d partitions", protocol.MaxPartitions)
		}
	}
	return c, nil
}

func (c *Cluster) addBrokers() error {
	if len(c.config.Brokers) == 0 {
		return fmt.Errorf("cluster: no brokers")
	}
	c.machines = make([]*broker.Machine, protocol.MaxBrokers+1)
	for _, b := range c.config.Brokers {
		switch {
		case b < 1 || b > protocol.MaxBrokers:
			return fmt.Errorf("cluster: broker id %d is not from 1 to %d", b, protocol.MaxBrokers)
		case c.machines[b] != nil:
			return fmt.Errorf("cluster: broker %d is named twice", b)
		}
		c.machines[b] = broker.NewMachine(b, c.shared)
		c.names.Nodes[b] = strconv.Itoa(int(b))
		c.shared.Brokers = c.shared.Brokers.With(b)
	}
	for b := range c.shared.Brokers.All {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerAdded, Node: sim.NodeID(b)})
	}
	if c.config.Controller != 0 && !c.shared.Brokers.Has(c.config.Controller) {
		return fmt.Errorf("cluster: controller %d is not one of the brokers %s", c.config.Controller, c.shared.Brokers)
	}
	return nil
}

func (c *Cluster) keepLedger(e *trace.Event) {
	switch e.Kind {
	case trace.RecordQueued, trace.RecordSent, trace.RecordAcked, trace.RecordAssumed, trace.RecordFailed, trace.ProduceRefused:
		c.ledger.Apply(e)
	}
}

// applyNetwork puts the network's settings into force.
func (c *Cluster) applyNetwork() {
	c.sched.SetLatency(sim.Time(c.settings.NetworkLatency), sim.Time(c.settings.NetworkJitter))
}

// Observe passes every event from now on to f, which must not keep the pointer.
func (c *Cluster) Observe(f func(*trace.Event)) { c.recorder.AddSink(f) }

// Do executes a command at the present time. It is recorded. An error says what is
// wrong with it; then nothing was changed. The number is that of the event that
// records the statement.
func (c *Cluster) Do(cmd Command) (sim.Seq, error) {
	if err := cmd.check(c); err != nil {
		return 0, err
	}
	next, ok := c.Next()
	c.commands = append(c.commands, TimedCommand{At: c.Now(), Steps: c.Steps(), Midway: ok && next <= c.Now(), Command: cmd})
	seq := c.recorder.Outside(c.Now(), trace.Event{Kind: trace.StatementExecuted, Text: cmd.String()})
	cmd.apply(c)
	c.commands[len(c.commands)-1].after = c.Steps()
	return seq, nil
}

// Now is the present time.
func (c *Cluster) Now() sim.Time { return c.sched.Now() }

// Next is the time of the next step; a cluster always has one.
func (c *Cluster) Next() (sim.Time, bool) { return c.sched.Next() }

// Step takes exactly one step.
func (c *Cluster) Step() bool { return c.sched.Step() }

// StepUntil takes one step that comes at or before t, and reports whether there was one.
func (c *Cluster) StepUntil(t sim.Time) bool { return c.sched.StepUntil(t) }

// RunUntil takes every step up to and including time t, and makes t the present.
func (c *Cluster) RunUntil(t sim.Time) {
	for c.sched.StepUntil(t) {
	}
	c.sched.Advance(t)
}

// Steps counts the steps taken; Seq is the number of the latest event; Hash is a
// running hash over all of them.
func (c *Cluster) Steps() uint64 { return c.sched.Steps() }
func (c *Cluster) Seq() sim.Seq  { return c.recorder.Seq() }
func (c *Cluster) Hash() uint64  { return sim.Mix(c.sched.Hash(), c.recorder.Hash()) }

// Names resolves the numbers in events and snapshots.
func (c *Cluster) Names() *trace.Names { return c.names }

// Rules and Settings are how this cluster behaves.
func (c *Cluster) Rules() protocol.Rules       { return c.rules }
func (c *Cluster) Settings() protocol.Settings { return *c.settings.Clone() }

// Clone is an independent copy of the cluster, without sinks.
func (c *Cluster) Clone() *Cluster {
	d := *c
	d.commands = slices.Clip(c.commands)
	d.settings = c.settings.Clone()
	d.names = c.names.Clone()
	d.shared = &protocol.Config{Rules: &d.rules, Settings: d.settings, Catalog: d.names.Partitions, Values: d.names.Values, Brokers: c.shared.Brokers}
	d.recorder = c.recorder.Clone()
	d.ledger.Records = slices.Clone(c.ledger.Records)
	d.machines = slices.Clone(c.machines)
	d.clients = slices.Clone(c.clients)
	d.sched = c.sched.Clone(d.recorder, func(id sim.NodeID, n sim.Node) sim.Node {
		switch x := n.(type) {
		case *coord.Server:
			d.zookeeper = x.Clone(d.names.Partitions)
			return d.zookeeper
		case *broker.Machine:
			d.machines[id] = x.Clone(d.shared)
			return d.machines[id]
		case *client.Producer:
			d.clients[id-firstClient] = x.Clone(d.shared)
		case *client.Reader:
			d.clients[id-firstClient] = x.Clone(d.shared)
		}
		return d.clients[id-firstClient]
	})
	d.recorder.AddSink(d.keepLedger)
	return &d
}

// Node finds a node by its name in the lab language: a broker's id, a client's
// name, zookeeper or zk.
func (c *Cluster) Node(name string) (sim.NodeID, bool) {
	if name == "zk" {
		return coord.NodeID, true
	}
	i := slices.Index(c.names.Nodes, name)
	return sim.NodeID(i), name != "" && i >= 0
}
