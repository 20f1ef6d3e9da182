package controller

import (
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// strategy is how a leader is chosen.
type strategy uint8

const (
	byFailure strategy = iota // the leader is gone
	byPreference
	byShutdown
	byReassignment
	byCommand // the leader is gone, and an administrator wants another, clean or not
)

// The phases of an election and of taking replicas offline.
const (
	readStates = iota
	decide
	conclude
)

// choose is the leader and the ISR that a strategy makes of a state. All strategies
// scan the assignment in its order; no log end is ever compared.
// Kafka: PartitionLeaderElectionAlgorithms.
func (c *Controller) choose(s strategy, p protocol.Partition, state coord.State) (next coord.State, how trace.How, ok bool) {
	x := c.info(p)
	next = coord.State{Leader: protocol.NoBroker, LeaderEpoch: state.LeaderEpoch + 1, ControllerEpoch: c.epoch, ISR: state.ISR}
	switch s {
	case byFailure, byCommand:
		next.ISR, how = state.ISR&c.electable(), trace.Cleanly
		next.Leader = x.replicas.First(next.ISR)
		unclean := s == byCommand || c.config.Settings.Unclean(c.config.Catalog.Name(p).Topic)
		if next.Leader == protocol.NoBroker && unclean {
			next.Leader, how = x.replicas.First(c.electable()), trace.Uncleanly
			next.ISR = 0
			if next.Leader != protocol.NoBroker {
				next.ISR = protocol.BrokersOf(next.Leader)
			}
		}
	case byPreference:
		// Whoever asks has looked that another leads. When the state read now names the
		// preferred replica, this very write was done and its answer lost: the brokers have
		// not been told.
		how = trace.Preferred
		if first := x.replicas.At(0); c.electable().Has(first) && state.ISR.Has(first) {
			next.Leader = first
		}
	case byReassignment:
		next.Leader, how = x.replicas.First(state.ISR&c.electable()), trace.ForReassignment
	case byShutdown:
		how = trace.ForShutdown
		// Differs: until KAFKA-3670 Kafka scanned the ISR in the order of its list; here the
		// ISR is a set, and the assignment's order counts.
		next.ISR = state.ISR &^ c.shuttingDown
		if next.Leader = x.replicas.First(next.ISR); c.config.Rules.ShutdownChecksAlive {
			next.Leader = x.replicas.First(next.ISR & c.live)
		}
	}
	return next, how, next.Leader != protocol.NoBroker
}

// elect elects leaders for partitions: reads their states, decides, writes on
// condition of the version read, and begins again with those that were changed
// meanwhile. Kafka: PartitionStateMachine.doElectLeaderForPartitions.
func (c *Controller) elect(ctx coord.Context, t *task) bool {
	switch t.phase {
	case readStates:
		return c.readAll(ctx, t)
	case decide:
		return c.writeAll(ctx, t, func(p protocol.Partition, s coord.State) (coord.State, bool) {
			next, _, ok := c.choose(t.strategy, p, s)
			if !ok && (t.strategy == byFailure || t.strategy == byCommand) {
				trace.Emit(ctx.Out, trace.Event{Kind: trace.PartitionWentOffline, Node: c.node(), Partition: p, ISR: s.ISR})
			}
			return next, ok
		})
	}
	c.conclude(ctx, t, func(p protocol.Partition, before, now coord.State) {
		x := c.info(p)
		x.phase = online
		_, how, _ := c.choose(t.strategy, p, before)
		trace.Emit(ctx.Out, trace.Event{Kind: trace.LeaderElected, Node: c.node(), Partition: p, Leader: now.Leader, Epoch: now.LeaderEpoch, ISR: now.ISR, How: how})
		c.tellState(p, x.replicas.Set()&(c.live|c.shuttingDown), false)
	})
	return false
}

// offlineReplicas takes the replicas of a broker offline: it is told to stop, and
// leaves the ISRs it is in. Each such change raises the leader epoch although the
// leader stays. Kafka: ReplicaStateMachine, OfflineReplica.
func (c *Controller) offlineReplicas(ctx coord.Context, t *task) bool {
	switch t.phase {
	case readStates:
		c.batch.stop(t.broker, t.partitions)
		return c.readAll(ctx, t)
	case decide:
		return c.writeAll(ctx, t, func(p protocol.Partition, s coord.State) (coord.State, bool) {
			x := c.info(p)
			if !s.ISR.Has(t.broker) {
				x.state = s
				c.tellState(p, x.replicas.Set().Without(t.broker)&c.live, false)
				return s, false
			}
			next := coord.State{Leader: s.Leader, LeaderEpoch: s.LeaderEpoch + 1, ControllerEpoch: c.epoch, ISR: s.ISR.Without(t.broker)}
			if s.Leader == t.broker {
				next.Leader = protocol.NoBroker
			}
			keep := c.config.Rules.KeepLastISRMember == protocol.KeepLastAlways || !c.config.Settings.Unclean(c.config.Catalog.Name(p).Topic)
			if next.ISR == 0 && keep {
				next.ISR = s.ISR // the last member stays: it alone may lead again
				if s.Leader == protocol.NoBroker {
					return s, false // as it is already
				}
			}
			return next, true
		})
	}
	c.conclude(ctx, t, func(p protocol.Partition, before, now coord.State) {
		x := c.info(p)
		if now.Leader == protocol.NoBroker {
			x.phase = offline
		}
		trace.Emit(ctx.Out, trace.Event{Kind: trace.ControllerShrankISR, Node: c.node(), Partition: p, ISR: now.ISR, Epoch: now.LeaderEpoch})
		c.tellState(p, x.replicas.Set().Without(t.broker)&c.live, false)
	})
	return false
}

// readAll asks for the states of a task's partitions.
func (c *Controller) readAll(ctx coord.Context, t *task) bool {
	if len(t.partitions) == 0 {
		t.phase = done
		return false
	}
	ops := make([]coord.Op, len(t.partitions))
	for i, p := range t.partitions {
		ops[i] = c.getState(p)
	}
	t.phase = decide
	c.ask(ctx, ops)
	return true
}

// writeAll writes what is decided for each partition; those without a decision leave
// the task. A state that a later controller wrote is left alone.
func (c *Controller) writeAll(ctx coord.Context, t *task, decision func(protocol.Partition, coord.State) (coord.State, bool)) bool {
	var ops []coord.Op
	partitions := t.partitions
	t.partitions, t.decisions = nil, nil
	for i, p := range partitions {
		s, ok := readState(&c.answers[i])
		if !ok || s.ControllerEpoch > c.epoch {
			continue
		}
		x := c.info(p)
		x.state, x.version = s, c.answers[i].Stat.Version
		next, ok := decision(p, s)
		if !ok {
			continue
		}
		t.partitions = append(t.partitions, p)
		t.decisions = append(t.decisions, next)
		ops = append(ops, c.fenced(coord.Op{Kind: coord.SetData, Path: coord.StatePath(c.config.Catalog.Name(p)), Data: coord.EncodeState(next), Version: x.version}))
	}
	if len(ops) == 0 {
		t.phase = done
		return false
	}
	t.phase = conclude
	c.ask(ctx, ops)
	return true
}

// conclude puts what was written into the context, and starts over with what met
// another version.
func (c *Controller) conclude(ctx coord.Context, t *task, written func(p protocol.Partition, before, now coord.State)) {
	var again []protocol.Partition
	for i, p := range t.partitions {
		a, moved := c.result(&c.answers[i])
		switch {
		case moved:
			c.resign(ctx)
			return
		case a.Err == coord.OK:
			x := c.info(p)
			before := x.state
			x.state, x.version = t.decisions[i], a.Stat.Version
			written(p, before, x.state)
		case a.Err == coord.BadVersion:
			again = append(again, p)
		}
	}
	t.partitions, t.decisions, t.phase = again, nil, done
	if len(again) > 0 {
		t.phase = readStates
	}
}

// create gives new partitions their first state: the first live replica leads, all
// live ones are in the ISR. Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartitions.
func (c *Controller) create(ctx coord.Context, t *task) bool {
	if t.phase == 0 {
		var ops []coord.Op
		partitions := t.partitions
		t.partitions = nil
		for _, p := range partitions {
			x := c.info(p)
			isr := x.replicas.Set() & c.electable()
			if isr == 0 {
				continue // stays new until a replica is alive
			}
			tp := c.config.Catalog.Name(p)
			s := coord.State{Leader: x.replicas.First(isr), ControllerEpoch: c.epoch, ISR: isr}
			t.partitions = append(t.partitions, p)
			t.decisions = append(t.decisions, s)
			ops = append(ops,
				coord.Op{Kind: coord.Create, Path: coord.PartitionsPath(tp.Topic)},
				coord.Op{Kind: coord.Create, Path: coord.PartitionPath(tp)},
				c.fenced(coord.Op{Kind: coord.Create, Path: coord.StatePath(tp), Data: coord.EncodeState(s)}))
		}
		if len(ops) == 0 {
			t.phase = done
			return false
		}
		t.phase = 1
		c.ask(ctx, ops)
		return true
	}
	for i, p := range t.partitions {
		a, moved := c.result(&c.answers[3*i+2])
		if moved {
			c.resign(ctx)
			return false
		}
		if a.Err != coord.OK {
			continue
		}
		x := c.info(p)
		x.phase, x.state, x.version = online, t.decisions[i], a.Stat.Version
		trace.Emit(ctx.Out, trace.Event{Kind: trace.LeaderElected, Node: c.node(), Partition: p, Leader: x.state.Leader, Epoch: x.state.LeaderEpoch, ISR: x.state.ISR, How: trace.Initially})
		c.tellState(p, x.state.ISR, true)
		if _, moves := c.target(p); moves {
			c.enqueue(ctx, event{kind: onReassignISR})
		}
	}
	t.phase = done
	return false
}

// electUnclean is the task that elects a leader at any price, for those partitions that
// have none alive.
func (c *Controller) electUnclean(partitions []protocol.Partition) []task {
	t := task{kind: elect, strategy: byCommand}
	for _, p := range partitions {
		if x := c.info(p); x.phase == offline || x.phase == online && !c.live.Has(x.state.Leader) {
			t.partitions = append(t.partitions, p)
		}
	}
	return []task{t}
}

// rebalance moves leadership back to preferred replicas where too much of it has
// moved away. Kafka: KafkaController.checkAndTriggerAutoLeaderRebalance.
func (c *Controller) rebalance(ctx coord.Context, t *task) []task {
	t.phase = done
	var moves []protocol.Partition
	for b := range c.electable().All {
		if len(c.reassigning) > 0 {
			break // not while partitions move
		}
		var preferred int
		var away []protocol.Partition
		for p := range c.partitions {
			x := &c.partitions[p]
			if x.phase == nonExistent || x.replicas.Len() == 0 || x.replicas.At(0) != b {
				continue
			}
			preferred++
			if x.state.Leader != b {
				away = append(away, protocol.Partition(p))
			}
		}
		if preferred > 0 && int64(100*len(away)) > c.config.Settings.LeaderImbalancePercentage*int64(preferred) {
			moves = append(moves, away...)
		}
	}
	ctx.Out.SetTimer(TimerRebalance, simTime(c.config.Settings.LeaderImbalanceInterval))
	if len(moves) == 0 {
		return nil
	}
	return []task{{kind: elect, strategy: byPreference, partitions: moves}}
}
