package controller

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// This file moves partitions to other brokers. A reassignment goes on for as long as its
// entry stands in /admin/reassign_partitions: the assignment is first widened to the old
// and the new replicas, and when all new ones are in the ISR the old ones go. The narrow
// assignment is written last, for it is the only lasting note of who has to go; so a new
// controller can take over at any point. Differs: 2.4 keeps what it adds and removes with
// the assignment (KIP-455); here all lines do it as those before.
// Kafka: KafkaController.onPartitionReassignment.

// reassignment is a partition on its way to another assignment.
type reassignment struct {
	partition protocol.Partition
	target    protocol.Replicas
}

// target is the assignment that a partition is on its way to.
func (c *Controller) target(p protocol.Partition) (protocol.Replicas, bool) {
	for _, r := range c.reassigning {
		if r.partition == p {
			return r.target, true
		}
	}
	return protocol.Replicas{}, false
}

// readReassign takes an administrator's request to move partitions, or a predecessor's.
// Kafka: KafkaController.processPartitionReassignment.
func (c *Controller) readReassign(ctx coord.Context, t *task) (bool, []task) {
	if t.phase == 0 {
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Exists, Path: coord.ReassignPath, Watch: true}, {Kind: coord.Get, Path: coord.ReassignPath}})
		return true, nil
	}
	t.phase = done
	if c.answers[1].Err != coord.OK {
		return false, nil
	}
	var tasks []task
	for _, r := range coord.DecodeReassignment(c.answers[1].Data) {
		p := c.config.Catalog.Find(r.Partition)
		if p == protocol.NoPartition || c.info(p).phase == nonExistent {
			continue
		}
		if _, known := c.target(p); !known {
			c.reassigning = append(c.reassigning, reassignment{p, protocol.ReplicasOf(r.Replicas...)})
			tasks = append(tasks, reassignTask(p))
		}
	}
	return false, tasks
}

func reassignTask(p protocol.Partition) task {
	return task{kind: reassign, partitions: []protocol.Partition{p}}
}

// resumeReassign is the tasks that go on with the reassignments to brokers that came.
func (c *Controller) resumeReassign(came protocol.Brokers) []task {
	var tasks []task
	for _, r := range c.reassigning {
		if r.target.Set()&came != 0 {
			tasks = append(tasks, reassignTask(r.partition))
		}
	}
	return tasks
}

// reassign begins a reassignment or goes on with one: it ends it if all new replicas are
// in the ISR; else it lets them begin to follow, and watches the ISR.
func (c *Controller) reassign(ctx coord.Context, t *task) (bool, []task) {
	p := t.partitions[0]
	if t.phase == 0 {
		t.phase = 1
		c.ask(ctx, []coord.Op{c.watchState(p)})
		return true, nil
	}
	t.phase = done
	target, ok := c.target(p)
	s, known := readState(&c.answers[0])
	if !ok {
		return false, nil
	}
	x := c.info(p)
	if known {
		x.state, x.version = s, c.answers[0].Stat.Version
		if target.Set()&^s.ISR == 0 {
			return false, c.finishReassign(p, target)
		}
	}
	raise := task{kind: raiseEpoch, partitions: []protocol.Partition{p}}
	all := target
	for i := range x.replicas.Len() {
		if b := x.replicas.At(i); !target.Has(b) {
			all = all.Append(b)
		}
	}
	if all == x.replicas {
		return false, []task{raise}
	}
	x.replicas = all
	tasks := []task{{kind: writeAssignment, partitions: []protocol.Partition{p}}, raise}
	if x.phase == newPartition { // none of the old replicas was ever alive
		tasks = append(tasks, task{kind: create, partitions: []protocol.Partition{p}})
	}
	return false, tasks
}

// checkReassign looks whether what is being moved has arrived, after an ISR has changed.
// Kafka: KafkaController.processPartitionReassignmentIsrChange.
func (c *Controller) checkReassign(ctx coord.Context, t *task) (bool, []task) {
	if t.phase == 0 {
		var ops []coord.Op
		for _, r := range c.reassigning {
			t.partitions = append(t.partitions, r.partition)
			ops = append(ops, c.watchState(r.partition))
		}
		if len(ops) == 0 {
			t.phase = done
			return false, nil
		}
		t.phase = 1
		c.ask(ctx, ops)
		return true, nil
	}
	t.phase = done
	var tasks []task
	for i, p := range t.partitions {
		target, ok := c.target(p)
		s, known := readState(&c.answers[i])
		if !ok || !known || target.Set()&^s.ISR != 0 {
			continue
		}
		x := c.info(p)
		x.state, x.version = s, c.answers[i].Stat.Version
		tasks = append(tasks, c.finishReassign(p, target)...)
	}
	return false, tasks
}

func (c *Controller) watchState(p protocol.Partition) coord.Op {
	op := c.getState(p)
	op.Watch = true
	return op
}

// finishReassign is the tasks of the second half: a leader among the new replicas, then
// the old ones stop.
func (c *Controller) finishReassign(p protocol.Partition, target protocol.Replicas) []task {
	x := c.info(p)
	before := x.replicas
	old := before.Set() &^ target.Set()
	x.replicas = target
	first := task{kind: raiseEpoch, partitions: []protocol.Partition{p}, brokers: old}
	if !target.Has(x.state.Leader) || !c.live.Has(x.state.Leader) {
		first = task{kind: elect, strategy: byReassignment, partitions: []protocol.Partition{p}}
	}
	return []task{first, {kind: stopOld, partitions: []protocol.Partition{p}, brokers: old, replicas: before}}
}

// stopOld is the tasks that take the old replicas out and write the assignment down. If no
// new replica could be made leader everything stays, to be tried again.
func (c *Controller) stopOld(t *task) []task {
	t.phase = done
	x := c.info(t.partitions[0])
	if !x.replicas.Has(x.state.Leader) {
		x.replicas = t.replicas
		return nil
	}
	var tasks []task
	for b := range t.brokers.All {
		tasks = append(tasks,
			task{kind: offlineReplicas, broker: b, partitions: slices.Clone(t.partitions)},
			task{kind: deleteReplicas, broker: b, partitions: slices.Clone(t.partitions)})
	}
	return append(tasks, task{kind: writeAssignment, partitions: t.partitions}, task{kind: endReassign, partitions: t.partitions})
}

// raiseEpoch begins a new leader epoch with the same leader and ISR, so that everybody
// takes the assignment that comes with it.
// Kafka: KafkaController.updateLeaderEpochAndSendRequest.
func (c *Controller) raiseEpoch(ctx coord.Context, t *task) bool {
	switch t.phase {
	case readStates:
		return c.readAll(ctx, t)
	case decide:
		return c.writeAll(ctx, t, func(_ protocol.Partition, s coord.State) (coord.State, bool) {
			return coord.State{Leader: s.Leader, LeaderEpoch: s.LeaderEpoch + 1, ControllerEpoch: c.epoch, ISR: s.ISR}, true
		})
	}
	c.conclude(ctx, t, func(p protocol.Partition, _, now coord.State) {
		x := c.info(p)
		trace.Emit(ctx.Out, trace.Event{Kind: trace.LeaderEpochRaised, Node: c.node(), Partition: p, Leader: now.Leader, Epoch: now.LeaderEpoch, Replicas: x.replicas})
		c.tellState(p, (x.replicas.Set()|t.brokers)&(c.live|c.shuttingDown), false)
	})
	return false
}

// writeAssignment writes a partition's assignment into its topic's znode, as it is in the
// context. Kafka: KafkaController.updateAssignedReplicasForPartition.
func (c *Controller) writeAssignment(ctx coord.Context, t *task) bool {
	p := t.partitions[0]
	topic := c.config.Catalog.Name(p).Topic
	switch t.phase {
	case 0:
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Get, Path: coord.TopicPath(topic)}})
		return true
	case 1:
		assignment, err := coord.DecodeAssignment(c.answers[0].Data)
		if c.answers[0].Err != coord.OK || err != nil {
			t.phase = done
			return false
		}
		var names []protocol.TopicPartition
		var replicas []protocol.Replicas
		for i := range c.config.Catalog.Len() {
			tp := c.config.Catalog.Name(protocol.Partition(i))
			if l, ok := assignment[itoa(tp.Index)]; ok && tp.Topic == topic {
				r := protocol.ReplicasOf(l...)
				if protocol.Partition(i) == p {
					r = c.info(p).replicas
				}
				names, replicas = append(names, tp), append(replicas, r)
			}
		}
		t.phase = 2
		c.ask(ctx, []coord.Op{c.fenced(coord.Op{Kind: coord.SetData, Path: coord.TopicPath(topic), Data: coord.EncodeAssignment(names, replicas), Version: c.answers[0].Stat.Version})})
		return true
	}
	a, moved := c.result(&c.answers[0])
	switch {
	case moved:
		c.resign(ctx)
	case a.Err == coord.BadVersion:
		t.phase = 0
	default:
		t.phase = done
	}
	return false
}

// endReassign takes a partition off the list in ZooKeeper, and the list away with the last.
// Kafka: KafkaController.removePartitionFromReassignedPartitions.
func (c *Controller) endReassign(ctx coord.Context, t *task) bool {
	p := t.partitions[0]
	switch t.phase {
	case 0:
		t.phase = 1
		c.ask(ctx, []coord.Op{{Kind: coord.Get, Path: coord.ReassignPath}})
		return true
	case 1:
		if c.answers[0].Err == coord.OK {
			l := slices.DeleteFunc(coord.DecodeReassignment(c.answers[0].Data), func(r coord.Reassignment) bool { return r.Partition == c.config.Catalog.Name(p) })
			op := coord.Op{Kind: coord.SetData, Path: coord.ReassignPath, Data: coord.EncodeReassignment(l), Version: c.answers[0].Stat.Version}
			if len(l) == 0 {
				op.Kind, op.Data = coord.Delete, ""
			}
			t.phase = 2
			c.ask(ctx, []coord.Op{c.fenced(op)})
			return true
		}
	default:
		a, moved := c.result(&c.answers[0])
		if moved {
			c.resign(ctx)
			return false
		}
		if a.Err == coord.BadVersion {
			t.phase = 0
			return false
		}
	}
	t.phase = done
	c.reassigning = slices.DeleteFunc(c.reassigning, func(r reassignment) bool { return r.partition == p })
	c.batch.metadata(c.live|c.shuttingDown, []protocol.PartitionState{c.partitionState(p, false)})
	return false
}
