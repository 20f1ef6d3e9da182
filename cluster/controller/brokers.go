package controller

import (
	"slices"
	"strconv"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

func itoa(n int) string { return strconv.Itoa(n) }

func simTime(us int64) sim.Time { return sim.Time(us) }

// brokerIDs reads the names of registrations.
func brokerIDs(names []string) protocol.Brokers {
	var s protocol.Brokers
	for _, n := range names {
		if id, err := strconv.Atoi(n); err == nil && id > 0 && id <= protocol.MaxBrokers {
			s = s.With(protocol.Broker(id))
		}
	}
	return s
}

// readBrokers finds out who came and who went. Kafka: KafkaController.processBrokerChange.
func (c *Controller) readBrokers(ctx coord.Context, t *task) (bool, []task) {
	switch t.phase {
	case 0:
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Children, Path: coord.BrokerIDsPath, Watch: true}})
		return true, nil
	case 1:
		t.phase = 2
		t.brokers = brokerIDs(c.answers[0].Children)
		if t.brokers == 0 {
			c.answers = nil
			return false, nil
		}
		var ops []coord.Op
		for b := range t.brokers.All {
			ops = append(ops, coord.Op{Kind: coord.Get, Path: coord.BrokerIDPath(b)})
		}
		c.ask(ctx, ops)
		return true, nil
	}
	var now, came, bounced protocol.Brokers
	i := 0
	for b := range t.brokers.All {
		a := &c.answers[i]
		i++
		if a.Err != coord.OK {
			continue
		}
		now = now.With(b)
		switch {
		case !c.live.Has(b):
			came = came.With(b)
		case c.config.Rules.BounceDetection && a.Stat.Czxid > c.brokerEpochs[b]:
			bounced = bounced.With(b)
		}
		c.brokerEpochs[b] = a.Stat.Czxid
	}
	went := c.live &^ now
	t.phase = done
	// In Kafka's order. A bounced broker's failure is dealt with to its end before it is
	// greeted: else it would be told of epochs that its own failure has ended.
	return false, []task{
		{kind: appear, brokers: came}, {kind: vanish, brokers: bounced}, {kind: appear, brokers: bounced}, {kind: vanish, brokers: went},
	}
}

// brokersCame greets new brokers: everybody hears of them, they hear of everything,
// and partitions without a leader get another chance.
// Kafka: KafkaController.onBrokerStartup.
func (c *Controller) brokersCame(ctx coord.Context, came protocol.Brokers) []task {
	if came == 0 {
		return nil
	}
	before := c.live
	for b := range came.All {
		trace.Emit(ctx.Out, trace.Event{Kind: trace.BrokerStartupNoticed, Node: c.node(), Peer: sim.NodeID(b)})
		c.openChannel(b)
	}
	c.live |= came
	c.batch.metadata(before, nil)
	var states []protocol.PartitionState
	for p := range c.partitions {
		if x := &c.partitions[p]; x.phase == online || x.phase == offline {
			states = append(states, c.partitionState(protocol.Partition(p), false))
		}
	}
	c.batch.metadata(came, states)
	c.sendBatch(ctx)
	for p := range c.partitions {
		x := &c.partitions[p]
		if mine := x.replicas.Set() & came; mine != 0 && (x.phase == online || x.phase == offline) {
			c.tellState(protocol.Partition(p), mine, false)
		}
	}
	return append(c.electOffline(), c.resumeReassign(came)...)
}

// brokersWent deals with dead brokers: new leaders for what they led, then their
// replicas leave the ISRs. Kafka: KafkaController.onBrokerFailure, onReplicasBecomeOffline.
func (c *Controller) brokersWent(ctx coord.Context, went protocol.Brokers) []task {
	if went == 0 {
		return nil
	}
	for b := range went.All {
		trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.BrokerFailureNoticed, Node: c.node(), Peer: sim.NodeID(b)}))
		c.closeChannel(ctx, b)
	}
	c.live &^= went
	c.shuttingDown &^= went
	lost := false
	for p := range c.partitions {
		if x := &c.partitions[p]; x.phase == online && went.Has(x.state.Leader) {
			x.phase = offline
			lost = true
		}
	}
	tasks := c.electOffline()
	tasks = append(tasks, c.replicasOf(went)...)
	return append(tasks, task{kind: tellMetadata, lost: lost})
}

// shutdownBegin relieves a broker of its leaderships and memberships.
// Kafka: KafkaController.doControlledShutdown.
func (c *Controller) shutdownBegin(ctx coord.Context, t *task) []task {
	t.phase = done
	r := t.msg.Body.(*protocol.ControlledShutdown)
	b := r.Broker
	if c.config.Rules.BounceDetection && r.BrokerEpoch < c.brokerEpochs[b] {
		// An earlier life asked for it (KIP-380).
		ctx.Out.Reply(&t.msg, &protocol.ControlledShutdownAnswer{Error: protocol.StaleBrokerEpoch})
		return nil
	}
	if !c.live.Has(b) {
		return []task{{kind: shutdownEnd, broker: b, msg: t.msg}}
	}
	c.shuttingDown = c.shuttingDown.With(b)
	leads := task{kind: elect, strategy: byShutdown}
	follows := task{kind: offlineReplicas, broker: b}
	for p := range c.partitions {
		x := &c.partitions[p]
		if x.phase == nonExistent || !x.replicas.Has(b) || x.replicas.Len() < 2 {
			continue
		}
		if x.state.Leader == b {
			leads.partitions = append(leads.partitions, protocol.Partition(p))
		} else {
			follows.partitions = append(follows.partitions, protocol.Partition(p))
		}
	}
	return []task{leads, follows, {kind: shutdownEnd, broker: b, msg: t.msg}}
}

func (c *Controller) shutdownEnd(ctx coord.Context, t *task) {
	t.phase = done
	a := &protocol.ControlledShutdownAnswer{}
	for p := range c.partitions {
		if x := &c.partitions[p]; x.phase != nonExistent && x.state.Leader == t.broker && x.replicas.Len() > 1 {
			a.Remaining = append(a.Remaining, protocol.Partition(p))
		}
	}
	ctx.Out.Reply(&t.msg, a)
}

// readTopics finds new topics and partitions. Kafka: KafkaController.processTopicChange.
func (c *Controller) readTopics(ctx coord.Context, t *task) (bool, []task) {
	switch t.phase {
	case 0:
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Children, Path: coord.TopicsPath, Watch: true}})
		return true, nil
	case 1:
		t.names = c.answers[0].Children
		t.phase = 2
		if len(t.names) == 0 {
			t.phase = done
			return false, nil
		}
		var ops []coord.Op
		for _, topic := range t.names {
			ops = append(ops, coord.Op{Kind: coord.Get, Path: coord.TopicPath(topic), Watch: true})
		}
		c.ask(ctx, ops)
		return true, nil
	}
	t.phase = done
	var fresh []protocol.Partition
	for i, topic := range t.names {
		fresh = append(fresh, c.readAssignment(topic, &c.answers[i])...)
	}
	if len(fresh) == 0 {
		return false, nil
	}
	return false, []task{{kind: create, partitions: fresh}}
}

// readISRChanges refreshes what leaders have changed, for the brokers' metadata.
// Kafka: KafkaController.processIsrChangeNotification.
func (c *Controller) readISRChanges(ctx coord.Context, t *task) bool {
	switch t.phase {
	case 0:
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Children, Path: coord.ISRChangePath, Watch: true}})
		return true
	case 1:
		t.names = c.answers[0].Children
		t.phase = 2
		if len(t.names) == 0 {
			t.phase = done
			return false
		}
		var ops []coord.Op
		for _, n := range t.names {
			ops = append(ops, coord.Op{Kind: coord.Get, Path: coord.ISRChangePath + "/" + n})
		}
		c.ask(ctx, ops)
		return true
	case 2:
		for i := range t.names {
			for _, tp := range coord.DecodePartitions(c.answers[i].Data) {
				if p := c.config.Catalog.Find(tp); p != protocol.NoPartition && !slices.Contains(t.partitions, p) {
					t.partitions = append(t.partitions, p)
				}
			}
		}
		slices.Sort(t.partitions)
		var ops []coord.Op
		for _, p := range t.partitions {
			ops = append(ops, c.getState(p))
		}
		for _, n := range t.names {
			ops = append(ops, coord.Op{Kind: coord.Delete, Path: coord.ISRChangePath + "/" + n, Version: coord.AnyVersion})
		}
		t.phase = 3
		c.ask(ctx, ops)
		return true
	}
	var states []protocol.PartitionState
	for i, p := range t.partitions {
		if s, ok := readState(&c.answers[i]); ok {
			x := c.info(p)
			x.state, x.version = s, c.answers[i].Stat.Version
			states = append(states, c.partitionState(p, false))
		}
	}
	if len(states) > 0 {
		c.batch.metadata(c.live|c.shuttingDown, states)
	}
	t.phase = done
	return false
}

// readPreferred takes an admin's request for preferred elections.
// Kafka: KafkaController.processPreferredReplicaLeaderElection.
func (c *Controller) readPreferred(ctx coord.Context, t *task) (bool, []task) {
	if t.phase == 0 {
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Get, Path: coord.PreferredElectionPath}})
		return true, nil
	}
	t.phase = done
	e := task{kind: elect, strategy: byPreference}
	if c.answers[0].Err == coord.OK {
		for _, tp := range coord.DecodePartitions(c.answers[0].Data) {
			if p := c.config.Catalog.Find(tp); p != protocol.NoPartition && c.info(p).phase == online && c.info(p).state.Leader != c.info(p).replicas.At(0) {
				e.partitions = append(e.partitions, p)
			}
		}
		return false, []task{e, {kind: deletePreferred}}
	}
	return false, nil
}
