package controller

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// request collects what the controller has to tell each broker, and sends it at the
// end of a task: LeaderAndIsr, then UpdateMetadata, then StopReplica.
// Kafka: ControllerBrokerRequestBatch.
type request struct {
	brokers [protocol.MaxBrokers + 1]brokerRequest
}

type brokerRequest struct {
	states   []protocol.PartitionState
	metadata []protocol.PartitionState
	tell     bool // UpdateMetadata even without partitions
	deletes  []protocol.Partition
	stops    []protocol.Partition
}

// metadata tells brokers of partitions, and who is alive.
func (r *request) metadata(brokers protocol.Brokers, states []protocol.PartitionState) {
	for b := range brokers.All {
		x := &r.brokers[b]
		x.tell = true
		for _, s := range states {
			x.metadata = putState(x.metadata, s)
		}
	}
}

// stop tells a broker to stop replicas.
func (r *request) stop(b protocol.Broker, partitions []protocol.Partition) {
	r.brokers[b].stops = append(r.brokers[b].stops, partitions...)
}

// remove tells a broker to delete replicas.
func (r *request) remove(b protocol.Broker, partitions []protocol.Partition) {
	r.brokers[b].deletes = append(r.brokers[b].deletes, partitions...)
}

// putState adds a state; a later one of the same partition takes its place.
func putState(l []protocol.PartitionState, s protocol.PartitionState) []protocol.PartitionState {
	if i := slices.IndexFunc(l, func(x protocol.PartitionState) bool { return x.Partition == s.Partition }); i >= 0 {
		l[i] = s
		return l
	}
	return append(l, s)
}

func (r *request) clone() request {
	c := *r
	for b := range c.brokers {
		x := &c.brokers[b]
		x.states, x.metadata, x.stops = slices.Clone(x.states), slices.Clone(x.metadata), slices.Clone(x.stops)
		x.deletes = slices.Clone(x.deletes)
	}
	return c
}

// tellState tells brokers what was decided about a partition, and everybody's metadata.
func (c *Controller) tellState(p protocol.Partition, to protocol.Brokers, isNew bool) {
	s := c.partitionState(p, isNew)
	for b := range to.All {
		x := &c.batch.brokers[b]
		x.states = putState(x.states, s)
	}
	c.batch.metadata(c.live|c.shuttingDown, []protocol.PartitionState{s})
}

func (c *Controller) partitionState(p protocol.Partition, isNew bool) protocol.PartitionState {
	x := c.info(p)
	return protocol.PartitionState{
		Partition: p, ControllerEpoch: x.state.ControllerEpoch, Leader: x.state.Leader, LeaderEpoch: x.state.LeaderEpoch,
		ISR: x.state.ISR, ZkVersion: x.version, Replicas: x.replicas, New: isNew,
	}
}

// sendBatch queues what was collected. What is for brokers that are gone is dropped.
func (c *Controller) sendBatch(ctx coord.Context) {
	for b := range c.batch.brokers {
		x := &c.batch.brokers[b]
		ch := c.channel(protocol.Broker(b))
		if ch == nil {
			*x = brokerRequest{}
			continue
		}
		epoch := protocol.NoBrokerEpoch
		if c.config.Rules.BounceDetection {
			epoch = c.brokerEpochs[b]
		}
		if len(x.states) > 0 {
			ch.queue = append(ch.queue, &protocol.LeaderAndISR{Controller: c.id, ControllerEpoch: c.epoch, BrokerEpoch: epoch, Partitions: x.states, LiveLeaders: c.live})
		}
		if x.tell {
			ch.queue = append(ch.queue, &protocol.UpdateMetadata{Controller: c.id, ControllerEpoch: c.epoch, BrokerEpoch: epoch, Partitions: x.metadata, LiveBrokers: c.live | c.shuttingDown})
		}
		if len(x.deletes) > 0 {
			ch.queue = append(ch.queue, &protocol.StopReplica{Controller: c.id, ControllerEpoch: c.epoch, BrokerEpoch: epoch, Delete: true, Partitions: x.deletes})
		}
		if len(x.stops) > 0 {
			ch.queue = append(ch.queue, &protocol.StopReplica{Controller: c.id, ControllerEpoch: c.epoch, BrokerEpoch: epoch, Partitions: x.stops})
		}
		*x = brokerRequest{}
		c.pump(ctx, ch)
	}
}

// channel is the queue of requests for one broker, one of them under way at a time.
// Kafka: ControllerChannelManager, RequestSendThread.
type channel struct {
	broker   protocol.Broker
	queue    []protocol.Body // the first is under way when inflight is not 0
	inflight sim.Seq
	retry    bool // in the pause before it is sent again
}

// channelRetry is the pause before a request is sent again.
const channelRetry = 100 * sim.Millisecond

func (x *channel) timer() sim.TimerID { return timerChannel + sim.TimerID(x.broker) }

func (c *Controller) channel(b protocol.Broker) *channel {
	for i := range c.channels {
		if c.channels[i].broker == b {
			return &c.channels[i]
		}
	}
	return nil
}

func (c *Controller) openChannel(b protocol.Broker) {
	if c.channel(b) == nil {
		c.channels = append(c.channels, channel{broker: b})
	}
}

// closeChannel drops what a broker that is gone was still to be told.
func (c *Controller) closeChannel(ctx coord.Context, b protocol.Broker) {
	c.channels = slices.DeleteFunc(c.channels, func(x channel) bool { return x.broker == b })
	ctx.Out.StopTimer(timerChannel + sim.TimerID(b))
}

func (c *Controller) pump(ctx coord.Context, x *channel) {
	if x.inflight != 0 || x.retry || len(x.queue) == 0 || c.heldControl.Has(x.broker) {
		return
	}
	x.inflight = ctx.Out.Request(sim.NodeID(x.broker), protocol.ForControl, x.queue[0])
	ctx.Out.SetTimer(x.timer(), simTime(c.config.Settings.ControllerSocketTimeout))
}

// Answer takes a broker's answer to a control request.
func (c *Controller) Answer(ctx coord.Context, msg *sim.Message) {
	x := c.channel(protocol.Broker(msg.From))
	if x == nil || x.inflight == 0 || x.inflight != msg.InReplyTo {
		return
	}
	x.inflight = 0
	x.queue = slices.Delete(x.queue, 0, 1)
	ctx.Out.StopTimer(x.timer())
	c.pump(ctx, x)
}

// Closed tells that a broker closed the control connection.
func (c *Controller) Closed(ctx coord.Context, b protocol.Broker) {
	if x := c.channel(b); x != nil && x.inflight != 0 {
		c.again(ctx, x)
	}
}

func (c *Controller) again(ctx coord.Context, x *channel) {
	if !c.config.Rules.ControlRetries {
		x.queue = slices.Delete(x.queue, 0, 1)
	}
	x.inflight, x.retry = 0, true
	ctx.Out.SetTimer(x.timer(), channelRetry)
}

// fireChannel: a request has timed out, or the pause is over.
func (c *Controller) fireChannel(ctx coord.Context, b protocol.Broker) {
	x := c.channel(b)
	if x == nil {
		return
	}
	if x.inflight != 0 {
		c.again(ctx, x)
		return
	}
	x.retry = false
	c.pump(ctx, x)
}

// HoldControl makes requests for a broker wait, or lets them go again.
func (c *Controller) HoldControl(ctx coord.Context, b protocol.Broker, held bool) {
	if held {
		c.heldControl = c.heldControl.With(b)
		return
	}
	c.heldControl = c.heldControl.Without(b)
	if x := c.channel(b); x != nil {
		c.pump(ctx, x)
	}
}
