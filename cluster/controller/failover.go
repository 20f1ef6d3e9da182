package controller

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// The phases of a failover.
const (
	failoverWatch = iota
	failoverLists
	failoverDetails
	failoverStates
)

// firstRebalance is when a new controller looks for imbalance first.
const firstRebalance = 5 * sim.Second

// failover makes a new controller know everything and put in order what its
// predecessor left: watches first, then the whole state, then the decisions.
// Kafka: KafkaController.onControllerFailover.
func (c *Controller) failover(ctx coord.Context, t *task) (bool, []task) {
	switch t.phase {
	case failoverWatch:
		t.phase = failoverLists
		c.ask(ctx, []coord.Op{
			{Kind: coord.Exists, Path: coord.ControllerPath, Watch: true},
			{Kind: coord.Children, Path: coord.BrokerIDsPath, Watch: true},
			{Kind: coord.Children, Path: coord.TopicsPath, Watch: true},
			{Kind: coord.Children, Path: coord.ISRChangePath, Watch: true},
			{Kind: coord.Exists, Path: coord.PreferredElectionPath, Watch: true},
			{Kind: coord.Exists, Path: coord.ReassignPath, Watch: true},
		})
		return true, nil
	case failoverLists:
		t.phase = failoverDetails
		t.brokers = brokerIDs(c.answers[1].Children)
		t.names = c.answers[2].Children
		t.asked, t.moves = c.answers[4].Err == coord.OK, c.answers[5].Err == coord.OK
		var ops []coord.Op
		for _, n := range c.answers[3].Children {
			// Safe to delete: the whole state is read next.
			ops = append(ops, coord.Op{Kind: coord.Delete, Path: coord.ISRChangePath + "/" + n, Version: coord.AnyVersion})
		}
		for b := range t.brokers.All {
			ops = append(ops, coord.Op{Kind: coord.Get, Path: coord.BrokerIDPath(b)})
		}
		for _, topic := range t.names {
			ops = append(ops, coord.Op{Kind: coord.Get, Path: coord.TopicPath(topic), Watch: true})
		}
		if len(ops) == 0 {
			return false, nil
		}
		c.ask(ctx, ops)
		return true, nil
	case failoverDetails:
		t.phase = failoverStates
		answers := c.answers[max(len(c.answers)-t.brokers.Len()-len(t.names), 0):]
		i := 0
		for b := range t.brokers.All {
			if answers[i].Err == coord.OK {
				c.live = c.live.With(b)
				c.brokerEpochs[b] = answers[i].Stat.Czxid
			}
			i++
		}
		for b := range c.live.All {
			c.openChannel(b)
		}
		for _, topic := range t.names {
			c.readAssignment(topic, &answers[i])
			i++
		}
		var ops []coord.Op
		for p := range c.partitions {
			if c.partitions[p].phase == nonExistent {
				continue
			}
			t.partitions = append(t.partitions, protocol.Partition(p))
			ops = append(ops, c.getState(protocol.Partition(p)))
		}
		if len(ops) == 0 {
			return false, nil
		}
		c.ask(ctx, ops)
		return true, nil
	}
	for i, p := range t.partitions {
		x := c.info(p)
		if s, ok := readState(&c.answers[i]); ok {
			x.state, x.version = s, c.answers[i].Stat.Version
			x.phase = offline
			if c.live.Has(s.Leader) {
				x.phase = online
			}
		}
	}
	// Brokers must know who is alive before they can act on LeaderAndIsr.
	c.batch.metadata(c.live, nil)
	c.sendBatch(ctx)
	for _, p := range t.partitions {
		if x := c.info(p); x.phase == online || x.phase == offline {
			for b := range (x.replicas.Set() & c.live).All {
				c.tellState(p, protocol.BrokersOf(b), false)
			}
		}
	}
	t.phase = done
	var next []task
	if c.config.Rules.FailoverOfflinesReplicas {
		next = append(next, c.replicasOf(c.deadReplicas())...)
	}
	next = append(next, c.electOffline()...)
	if t.moves {
		next = append(next, task{kind: readReassign})
	}
	if t.asked {
		next = append(next, task{kind: readPreferred})
	}
	if c.config.Settings.AutoLeaderRebalance {
		ctx.Out.SetTimer(TimerRebalance, firstRebalance)
	}
	return false, next
}

// deadReplicas is the brokers that have replicas and are not alive.
func (c *Controller) deadReplicas() protocol.Brokers {
	var dead protocol.Brokers
	for p := range c.partitions {
		dead |= c.partitions[p].replicas.Set() &^ c.live
	}
	return dead
}

// replicasOf is the tasks that take the replicas of brokers offline.
func (c *Controller) replicasOf(brokers protocol.Brokers) []task {
	var tasks []task
	for b := range brokers.All {
		t := task{kind: offlineReplicas, broker: b}
		for p := range c.partitions {
			if x := &c.partitions[p]; x.replicas.Has(b) && x.phase != nonExistent {
				t.partitions = append(t.partitions, protocol.Partition(p))
			}
		}
		if len(t.partitions) > 0 {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// electOffline is the tasks that try to bring every new and offline partition online.
// Kafka: PartitionStateMachine.triggerOnlinePartitionStateChange.
func (c *Controller) electOffline() []task { return c.electOfflineOf("") }

// electOfflineOf is that for the partitions of one topic, or for all when it is empty.
func (c *Controller) electOfflineOf(topic string) []task {
	n := task{kind: create}
	o := task{kind: elect, strategy: byFailure}
	for p := range c.partitions {
		if topic != "" && c.config.Catalog.Name(protocol.Partition(p)).Topic != topic {
			continue
		}
		switch c.partitions[p].phase {
		case newPartition:
			n.partitions = append(n.partitions, protocol.Partition(p))
		case offline:
			o.partitions = append(o.partitions, protocol.Partition(p))
		}
	}
	var tasks []task
	if len(n.partitions) > 0 {
		tasks = append(tasks, n)
	}
	if len(o.partitions) > 0 {
		tasks = append(tasks, o)
	}
	return tasks
}

func (c *Controller) getState(p protocol.Partition) coord.Op {
	return coord.Op{Kind: coord.Get, Path: coord.StatePath(c.config.Catalog.Name(p))}
}

func readState(a *coord.Answer) (coord.State, bool) {
	if a.Err != coord.OK {
		return coord.State{}, false
	}
	s, err := coord.DecodeState(a.Data)
	return s, err == nil
}

// readAssignment takes a topic's assignment into the context and returns the
// partitions that are new.
func (c *Controller) readAssignment(topic string, a *coord.Answer) []protocol.Partition {
	if a.Err != coord.OK {
		return nil
	}
	assignment, err := coord.DecodeAssignment(a.Data)
	if err != nil {
		return nil
	}
	var fresh []protocol.Partition
	for p := range c.config.Catalog.Len() {
		id := protocol.Partition(p)
		tp := c.config.Catalog.Name(id)
		replicas, ok := assignment[itoa(tp.Index)]
		if tp.Topic != topic || !ok || len(replicas) > protocol.MaxBrokers {
			continue
		}
		if x := c.info(id); x.phase == nonExistent {
			x.phase, x.replicas = newPartition, protocol.ReplicasOf(replicas...)
			fresh = append(fresh, id)
		}
	}
	slices.Sort(fresh)
	return fresh
}
