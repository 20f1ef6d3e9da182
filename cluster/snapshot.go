package cluster

import (
	"cmp"
	"slices"

	"tidemark/cluster/client"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Snapshot is the state of the cluster, taken from its nodes. Only the ledger is kept
// by folding events: a producer forgets a record once it has its verdict.
func (c *Cluster) Snapshot() *trace.Snapshot {
	s := &trace.Snapshot{Seq: c.Seq(), Time: c.Now(), Line: c.rules.Line, Records: slices.Clone(c.ledger.Records)}
	for p := range c.names.Partitions.Len() {
		s.Partitions = append(s.Partitions, trace.PartitionState{Name: c.names.Partitions.Name(protocol.Partition(p)), Replicas: c.zookeeper.Assignment(protocol.Partition(p))})
	}
	for id, m := range c.machines {
		if m != nil {
			m.Describe(s, c.status(protocol.Broker(id)), c.heldControl.Has(protocol.Broker(id)))
		}
	}
	c.zookeeper.Describe(s)
	c.sched.Pending(func(m *sim.Message, held bool) {
		body, _ := m.Body.(protocol.Body)
		s.Messages = append(s.Messages, trace.MessageState{ID: m.ID, From: m.From, To: m.To, SentAt: m.ObservedAt, DeliverAt: m.DeliverAt, Held: held, Body: body})
	})
	slices.SortFunc(s.Messages, func(a, b trace.MessageState) int { return cmp.Compare(a.ID, b.ID) })
	for i, n := range c.clients {
		switch x := n.(type) {
		case *client.Producer:
			x.Describe(firstClient+sim.NodeID(i), s)
		case *client.Reader:
			x.Describe(firstClient+sim.NodeID(i), s)
		}
	}
	for from := range c.names.Nodes {
		for to := range c.names.Nodes {
			f, t := sim.NodeID(from), sim.NodeID(to)
			l := trace.LinkState{From: f, To: t, Cut: c.sched.IsCut(f, t), Held: c.sched.IsHeld(f, t), Slow: c.sched.SlowBy(f, t)}
			for class := range l.Drops {
				l.Drops[class] = c.sched.Drops(f, t, uint8(class))
			}
			if !l.AsItShouldBe() {
				s.Links = append(s.Links, l)
			}
		}
	}
	slices.SortFunc(s.Parked, func(a, b trace.ParkedState) int { return cmp.Compare(a.Message, b.Message) })
	return s
}

// Settled reports whether the cluster has come to rest in the sense of the lab
// language's settle: nothing is under way but fetches, pings and empty answers, no
// producer waits, every broker that can has registered, no session of a stopped or cut
// broker is still to expire, no replica that can is still to join or leave an ISR, and
// every follower that can has its leader's log and high watermark, as its leader knows.
func (c *Cluster) Settled() bool {
	for _, n := range c.clients {
		if p, ok := n.(*client.Producer); ok && !p.Idle() {
			return false
		}
	}
	for b := range c.shared.Brokers.All {
		if m := c.machines[b]; c.status(b) == sim.Up && !c.cutOff(b) && (!m.Registered() || !m.Idle() || !c.zookeeper.Exists(coord.BrokerIDPath(b))) {
			return false
		}
	}
	quiet := true
	c.sched.Pending(func(m *sim.Message, held bool) {
		if !held && !idleMessage(m) && c.sched.Status(m.To) != sim.Frozen {
			quiet = false
		}
	})
	return quiet && c.replicasSettled()
}

// idleMessage reports whether a message is part of a cluster at rest.
func idleMessage(m *sim.Message) bool {
	switch b := m.Body.(type) {
	case *protocol.Fetch:
		return true
	case *protocol.FetchAnswer:
		for i := range b.Partitions {
			if len(b.Partitions[i].Records) > 0 || b.Partitions[i].Error != protocol.None {
				return false
			}
		}
		return true
	case *coord.Request:
		return b.Op.Kind == coord.Ping
	case *coord.Answer:
		return b.Kind == coord.Ping
	}
	return false
}

// cutOff reports whether a broker is cut from ZooKeeper.
func (c *Cluster) cutOff(b protocol.Broker) bool {
	id := sim.NodeID(b)
	return c.sched.IsCut(id, coord.NodeID) || c.sched.IsCut(coord.NodeID, id)
}

func (c *Cluster) replicasSettled() bool {
	s := c.Snapshot()
	for i := range s.Sessions {
		b := protocol.Broker(s.Sessions[i].Node)
		if st := c.status(b); st == sim.Down || st == sim.Off || st == sim.Up && c.cutOff(b) {
			return false
		}
	}
	for p := range s.Partitions {
		id := protocol.Partition(p)
		z := s.Znode(coord.StatePath(s.Partitions[p].Name))
		if z == nil {
			return false
		}
		state, err := coord.DecodeState(z.Data)
		if err != nil || state.Leader == protocol.NoBroker {
			continue
		}
		leader := s.Replica(sim.NodeID(state.Leader), id)
		if leader == nil || c.status(state.Leader) != sim.Up || leader.Role != trace.RoleLeader || leader.LeaderEpoch != state.LeaderEpoch {
			if c.status(state.Leader) == sim.Up && !c.cutOff(state.Leader) {
				return false // it has not heard of its election yet
			}
			continue
		}
		for b := range state.ISR.All {
			if st := c.status(b); (st == sim.Down || st == sim.Off) && !c.cutOff(state.Leader) {
				return false // its leader or the controller will take it out
			}
		}
		for b := range s.Partitions[p].Replicas.Set().All {
			if b == state.Leader || !c.canFetch(s, b, state.Leader) {
				continue
			}
			r := s.Replica(sim.NodeID(b), id)
			if r == nil || !state.ISR.Has(b) || r.LEO() != leader.LEO() || leader.FollowerLEO(b) != r.LEO() || r.HW != leader.HW || r.Role != trace.RoleFollower || r.Leader != state.Leader {
				return false
			}
			if c.waitsInVain(s, b, state.Leader) {
				return false // until its request times out; the leader may drop it from the ISR before
			}
		}
	}
	return true
}

// waitsInVain reports whether a follower's request to a leader, or the answer to it, was lost.
func (c *Cluster) waitsInVain(s *trace.Snapshot, b, leader protocol.Broker) bool {
	asked := c.machines[b].Asked(leader)
	alive := asked == 0 || slices.ContainsFunc(s.Parked, func(p trace.ParkedState) bool { return p.Message == asked })
	c.sched.Pending(func(m *sim.Message, _ bool) {
		alive = alive || m.ID == asked || m.InReplyTo == asked
	})
	return !alive
}

// canFetch reports whether a follower is able to fetch from a leader.
func (c *Cluster) canFetch(s *trace.Snapshot, b, leader protocol.Broker) bool {
	x, y := sim.NodeID(b), sim.NodeID(leader)
	broken := func(f, t sim.NodeID) bool { return c.sched.IsCut(f, t) || c.sched.IsHeld(f, t) }
	return c.status(b) == sim.Up && !c.cutOff(b) && !broken(x, y) && !broken(y, x) && !s.Broker(x).FetchesHeld && !s.Broker(x).ControlHeld
}

func (c *Cluster) status(b protocol.Broker) sim.Status { return c.sched.Status(sim.NodeID(b)) }
