package controller

import (
	"slices"
	"strings"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Controller is one broker's controller component. Kafka: kafka.controller.KafkaController.
type Controller struct {
	id     protocol.Broker
	config *protocol.Config

	active       bool
	epoch        protocol.Epoch // of its own reign
	epochVersion int32          // version of /controller_epoch that it wrote

	// What the active controller knows (Kafka: ControllerContext).
	live         protocol.Brokers
	shuttingDown protocol.Brokers
	brokerEpochs [protocol.MaxBrokers + 1]int64
	partitions   []partitionInfo // by protocol.Partition
	channels     []channel       // by broker
	heldControl  protocol.Brokers
	reassigning  []reassignment
	deposed      bool // its session has expired: it resigns after the event at hand

	events []event // waiting
	tasks  []task  // of the event at hand, the current one first
	batch  request // what is to be sent when the current task ends

	// The operations that the current task waits for.
	generation int64
	missing    int
	answers    []coord.Answer
}

// partitionInfo is a partition in the controller's context.
type partitionInfo struct {
	phase    partitionPhase
	replicas protocol.Replicas
	state    coord.State
	version  int32 // of the state znode
}

// partitionPhase is a state of Kafka's PartitionStateMachine.
type partitionPhase uint8

const (
	nonExistent partitionPhase = iota
	newPartition
	online
	offline
)

// event is something the controller has to see to.
type event struct {
	kind      eventKind
	msg       sim.Message        // of a controlled shutdown
	partition protocol.Partition // of an unclean election asked for
	topic     string             // for which unclean election was enabled; empty: for all
}

type eventKind uint8

const (
	onCampaign eventKind = iota
	onBrokerChange
	onTopicChange
	onISRChange
	onPreferredElection
	onControlledShutdown
	onRebalance
	onReassign
	onReassignISR
	onUncleanElection
	onUncleanEnabled
)

// OwnerController marks the operations that this package submits to ZooKeeper.
const OwnerController uint8 = 2

// The timers of this package.
const (
	TimerRebalance sim.TimerID = 40 + iota
	timerChannel               // one for each broker: the last
)

// New makes the component of a starting broker.
func New(id protocol.Broker, config *protocol.Config, heldControl protocol.Brokers) *Controller {
	return &Controller{id: id, config: config, heldControl: heldControl}
}

// Active reports whether this broker believes that it is the controller.
func (c *Controller) Active() bool { return c.active }

// Start begins to take part in elections, in a new session.
// Kafka: KafkaController.startup.
func (c *Controller) Start(ctx coord.Context) { c.enqueue(ctx, event{kind: onCampaign}) }

// SessionExpired resigns: whoever lost its session is not the controller, and what it
// had submitted will not be answered.
func (c *Controller) SessionExpired(ctx coord.Context) { c.resign(ctx) }

// SessionRenewed resigns as well, where nobody said before that the session had expired:
// at once, or after the event at hand. What that still writes in the new session are the
// writes of a controller that is none any more (KAFKA-6082).
// Kafka: KafkaController.SessionExpirationListener, which waits for controllerLock.
func (c *Controller) SessionRenewed(ctx coord.Context) {
	if len(c.tasks) > 0 {
		c.deposed = true
		return
	}
	c.resign(ctx)
}

// Watched takes a watch event.
func (c *Controller) Watched(ctx coord.Context, w *coord.WatchEvent) {
	switch {
	case w.Path == coord.ControllerPath:
		c.enqueue(ctx, event{kind: onCampaign})
	case w.Path == coord.BrokerIDsPath:
		c.enqueue(ctx, event{kind: onBrokerChange})
	case w.Path == coord.ISRChangePath:
		c.enqueue(ctx, event{kind: onISRChange})
	case w.Path == coord.PreferredElectionPath:
		c.enqueue(ctx, event{kind: onPreferredElection})
	case w.Path == coord.ReassignPath:
		c.enqueue(ctx, event{kind: onReassign})
	case strings.HasSuffix(w.Path, "/state"):
		c.enqueue(ctx, event{kind: onReassignISR})
	default: // the list of topics, or one of them
		c.enqueue(ctx, event{kind: onTopicChange})
	}
}

// ControlledShutdown takes a broker's request to be relieved of its leaderships.
func (c *Controller) ControlledShutdown(ctx coord.Context, msg *sim.Message) {
	if !c.active {
		ctx.Out.Reply(msg, &protocol.ControlledShutdownAnswer{Error: protocol.StaleControllerEpoch})
		return
	}
	c.enqueue(ctx, event{kind: onControlledShutdown, msg: *msg})
}

// ElectUnclean takes an administrator's request for an unclean election.
// Kafka: KafkaController.processReplicaLeaderElection, the request ElectLeaders.
func (c *Controller) ElectUnclean(ctx coord.Context, p protocol.Partition) {
	if c.active {
		c.enqueue(ctx, event{kind: onUncleanElection, partition: p})
	}
}

// UncleanEnabled tells that unclean election was switched on for a topic, or for all when
// it is empty. Kafka: KafkaController.processTopicUncleanLeaderElectionEnable.
func (c *Controller) UncleanEnabled(ctx coord.Context, topic string) {
	if c.active {
		c.enqueue(ctx, event{kind: onUncleanEnabled, topic: topic})
	}
}

// Fire takes a timer and reports whether it was one of this package.
func (c *Controller) Fire(ctx coord.Context, id sim.TimerID) bool {
	switch {
	case id == TimerRebalance:
		c.enqueue(ctx, event{kind: onRebalance})
	case id >= timerChannel && id <= timerChannel+protocol.MaxBrokers:
		c.fireChannel(ctx, protocol.Broker(id-timerChannel))
	default:
		return false
	}
	return true
}

// Answered takes ZooKeeper's answer to an operation of this package.
func (c *Controller) Answered(ctx coord.Context, tag coord.Tag, a *coord.Answer) {
	if tag.N != c.generation || c.missing == 0 {
		return // of a reign that is over
	}
	c.answers[tag.What] = *a
	if c.missing--; c.missing == 0 {
		c.run(ctx)
	}
}

func (c *Controller) enqueue(ctx coord.Context, e event) {
	single := e.kind == onControlledShutdown || e.kind == onUncleanElection || e.kind == onUncleanEnabled
	if !single && slices.ContainsFunc(c.events, func(x event) bool { return x.kind == e.kind }) {
		return // it will be looked at anyway
	}
	c.events = append(c.events, e)
	if len(c.tasks) == 0 {
		c.run(ctx)
	}
}

// run goes on with the current task until it waits for ZooKeeper, and from task to
// task and event to event until nothing is left.
func (c *Controller) run(ctx coord.Context) {
	for {
		if len(c.tasks) == 0 {
			if c.deposed {
				campaigns := slices.ContainsFunc(c.events, func(e event) bool { return e.kind == onCampaign })
				c.resign(ctx)
				if campaigns {
					c.events = append(c.events, event{kind: onCampaign})
				}
			}
			if len(c.events) == 0 {
				return
			}
			e := c.events[0]
			c.events = slices.Delete(c.events, 0, 1)
			c.begin(e)
			continue
		}
		t := c.tasks[0]
		var more []task
		waits := false
		if t.needsReign() && !c.active {
			t.phase = done
		} else {
			waits, more = c.step(ctx, &t)
		}
		if len(c.tasks) == 0 {
			continue // it resigned
		}
		c.tasks[0] = t
		if waits {
			return
		}
		if t.phase != done {
			continue
		}
		c.sendBatch(ctx)
		c.tasks = append(slices.Clone(more), c.tasks[1:]...)
		c.answers = nil
	}
}

// ask submits operations whose answers the current task's next phase will find in
// c.answers, in the same order.
func (c *Controller) ask(ctx coord.Context, ops []coord.Op) {
	c.generation++
	c.missing, c.answers = len(ops), make([]coord.Answer, len(ops))
	for i, op := range ops {
		ctx.Session.Submit(ctx.Now, op, coord.Tag{Owner: OwnerController, What: uint8(i), N: c.generation}, ctx.Out)
	}
}

// fenced makes a write that happens only in this controller's reign, where the line
// does so (KAFKA-6082).
func (c *Controller) fenced(op coord.Op) coord.Op {
	if !c.config.Rules.ControllerEpochFence {
		return op
	}
	return coord.Op{Kind: coord.Multi, Ops: []coord.Op{
		{Kind: coord.Check, Path: coord.ControllerEpochPath, Version: c.epochVersion}, op,
	}}
}

// result is the outcome of a fenced write. Moved is true when another controller reigns.
func (c *Controller) result(a *coord.Answer) (r coord.Answer, moved bool) {
	if a.Kind != coord.Multi {
		return *a, false
	}
	if a.Results[0].Err == coord.BadVersion {
		return coord.Answer{}, true
	}
	return a.Results[1], false
}

// resign ends a reign. Kafka: KafkaController.onControllerResignation.
func (c *Controller) resign(ctx coord.Context) {
	was := c.active
	for i := range c.channels {
		ctx.Out.StopTimer(c.channels[i].timer())
	}
	ctx.Out.StopTimer(TimerRebalance)
	*c = Controller{id: c.id, config: c.config, heldControl: c.heldControl, generation: c.generation + 1}
	if was {
		trace.Emit(ctx.Out, trace.Event{Kind: trace.ControllerResigned, Node: sim.NodeID(c.id)})
	}
}

// info is what is known of a partition; the table grows as needed.
func (c *Controller) info(p protocol.Partition) *partitionInfo {
	for int(p) >= len(c.partitions) {
		c.partitions = append(c.partitions, partitionInfo{})
	}
	return &c.partitions[p]
}

func (c *Controller) node() sim.NodeID { return sim.NodeID(c.id) }

// electable is the brokers that may lead: alive and not shutting down.
func (c *Controller) electable() protocol.Brokers { return c.live &^ c.shuttingDown }

// Idle reports whether the controller has nothing under way. What waits for a broker
// whose control requests are held does not count.
func (c *Controller) Idle() bool {
	if len(c.tasks) > 0 || len(c.events) > 0 {
		return false
	}
	for i := range c.channels {
		x := &c.channels[i]
		if len(x.queue) > 0 && !c.heldControl.Has(x.broker) {
			return false
		}
	}
	return true
}

// Clone is an independent copy.
func (c *Controller) Clone(config *protocol.Config) *Controller {
	d := *c
	d.config = config
	d.partitions = slices.Clone(c.partitions)
	d.channels = slices.Clone(c.channels)
	for i := range d.channels {
		d.channels[i].queue = slices.Clone(d.channels[i].queue)
	}
	d.reassigning = slices.Clone(c.reassigning)
	d.events = slices.Clone(c.events)
	d.tasks = slices.Clone(c.tasks)
	for i := range d.tasks {
		d.tasks[i].partitions = slices.Clone(d.tasks[i].partitions)
		d.tasks[i].names = slices.Clone(d.tasks[i].names)
		d.tasks[i].decisions = slices.Clone(d.tasks[i].decisions)
	}
	d.batch = c.batch.clone()
	d.answers = slices.Clone(c.answers)
	return &d
}
