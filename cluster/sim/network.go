package sim

import "slices"

// network keeps the state of the links: directed pairs of nodes.
type network struct {
	latency, jitter Time // one way, every link
	cuts, holds     [MaxNodes]uint64
	slows           []slowLink
	drops           []drop // armed, in the order in which they were
	// pairs is the latest delivery time by sender and receiver, where all of a pair's
	// messages travel in one order; nil where each connection has its own.
	pairs []Time
}

type slowLink struct {
	from, to NodeID
	by       Time
}

// drop is armed for the next message of a class in one direction.
type drop struct {
	from, to NodeID
	class    uint8
}

// Droppable is the body of a message for which a drop can be armed: its class.
type Droppable interface{ DropClass() uint8 }

// connState is one connection, kept by the node that opened it.
type connState struct {
	conn Conn
	open bool
	last [2]Time   // latest delivery time in each direction: the FIFO
	sent [2]uint64 // messages sent in each direction: the counter of jitter draws
}

// drawJitter is the stream of jitter draws.
const drawJitter DrawPurpose = 1

func (n *network) cut(from, to NodeID) bool  { return n.cuts[from]>>uint(to)&1 != 0 }
func (n *network) held(from, to NodeID) bool { return n.holds[from]>>uint(to)&1 != 0 }

func (n *network) slow(from, to NodeID) Time {
	for _, s := range n.slows {
		if s.from == from && s.to == to {
			return s.by
		}
	}
	return 0
}

func (n *network) clone() network {
	c := *n
	c.slows, c.drops, c.pairs = slices.Clone(n.slows), slices.Clone(n.drops), slices.Clone(n.pairs)
	return c
}

// SetLatency sets the one-way latency and jitter of every link for messages sent from now on.
func (s *Scheduler) SetLatency(latency, jitter Time) {
	s.network.latency, s.network.jitter = latency, jitter
}

// ShareConnections lets all messages from one node to another arrive in the order in
// which they were sent, whatever connection they are on. TCP does not do that: it is for
// finding out what such a network would hide.
func (s *Scheduler) ShareConnections() { s.network.pairs = make([]Time, MaxNodes*MaxNodes) }

// conn finds the state of a connection, adding it when it is used first.
func (s *Scheduler) conn(c Conn) *connState {
	n := s.nodes[c.Client]
	for i := range n.conns {
		if n.conns[i].conn == c {
			return &n.conns[i]
		}
	}
	n.conns = append(n.conns, connState{conn: c, last: [2]Time{s.now, s.now}})
	return &n.conns[len(n.conns)-1]
}

func (s *Scheduler) send(message Message) Seq {
	s.sending = message
	m := &s.sending
	c := s.conn(m.Conn)
	dir := 0
	if m.Answer {
		dir = 1
	}
	if !c.open && !m.Answer {
		c.open = true
	}
	delay := s.network.latency + s.network.slow(m.From, m.To)
	if j := s.network.jitter; j > 0 {
		key := uint64(m.Conn.Client)<<32 | uint64(m.Conn.Server)<<16 | uint64(m.Conn.Purpose)<<8 | uint64(dir)
		delay += Time(s.Draw(drawJitter, key, c.sent[dir]) % uint64(j+1))
	}
	c.sent[dir]++
	m.ObservedAt = s.now
	m.DeliverAt = max(m.SentAt+delay, c.last[dir])
	if s.network.pairs != nil {
		pair := &s.network.pairs[int(m.From)*MaxNodes+int(m.To)]
		m.DeliverAt = max(m.DeliverAt, *pair)
		*pair = m.DeliverAt
	}
	c.last[dir] = m.DeliverAt
	m.ID = s.observer.Sent(m)
	if s.network.cut(m.From, m.To) {
		s.observer.Lost(s.now, m, LostToCut)
		return m.ID
	}
	if m.Answer && m.ToIncarnation != 0 && m.ToIncarnation != s.nodes[m.To].incarnation {
		s.observer.Lost(s.now, m, LostToOldLife)
		return m.ID
	}
	if len(s.network.drops) > 0 && s.takeDrop(m) {
		s.observer.Lost(s.now, m, LostToDrop)
		return m.ID
	}
	s.schedule(m.DeliverAt, &pending{kind: Deliver, node: m.To, message: *m})
	return m.ID
}

// DropNext arms a drop: the next message of a class from one node to another that is on
// no cut link is lost when it is sent, and nobody is told. The connection stays open.
func (s *Scheduler) DropNext(from, to NodeID, class uint8) {
	s.network.drops = append(s.network.drops, drop{from, to, class})
}

// Drops counts the drops that are armed for a class in one direction.
func (s *Scheduler) Drops(from, to NodeID, class uint8) int {
	n := 0
	for _, d := range s.network.drops {
		if d == (drop{from, to, class}) {
			n++
		}
	}
	return n
}

// takeDrop uses a drop that is armed for a message, if there is one.
func (s *Scheduler) takeDrop(m *Message) bool {
	body, ok := m.Body.(Droppable)
	if !ok {
		return false
	}
	i := slices.Index(s.network.drops, drop{m.From, m.To, body.DropClass()})
	if i < 0 {
		return false
	}
	s.network.drops = slices.Delete(s.network.drops, i, i+1)
	return true
}

// refuse answers a message to a dead process on a living machine: the sender
// sees its connection closed after the way back.
func (s *Scheduler) refuse(m *Message) {
	c := s.conn(m.Conn)
	c.open = false
	s.announceClose(c, m.To, m.From, m.FromIncarnation)
}

// closeConn closes a connection from the side of a node.
func (s *Scheduler) closeConn(conn Conn, by NodeID) {
	c := s.conn(conn)
	if !c.open {
		return
	}
	c.open = false
	peer := conn.Server
	if by == conn.Server {
		peer = conn.Client
	}
	s.announceClose(c, by, peer, s.nodes[peer].incarnation)
}

// announceClose lets a peer see a close, after everything sent to it before.
func (s *Scheduler) announceClose(c *connState, from, to NodeID, incarnation uint32) {
	if s.network.cut(from, to) {
		return
	}
	dir := 0
	if from == c.conn.Server {
		dir = 1
	}
	at := max(s.now+s.network.latency+s.network.slow(from, to), c.last[dir])
	c.last[dir] = at
	s.schedule(at, &pending{kind: Disconnected, node: to, message: Message{From: from, To: to, Conn: c.conn, ToIncarnation: incarnation}})
}

// Crash ends the process of a node. What was under way to it vanishes. Unless the
// machine loses power, its peers see their connections closed; else there is silence.
func (s *Scheduler) Crash(id NodeID, powerLost bool) {
	n := s.nodes[id]
	n.status = Down
	if powerLost {
		n.status = Off
	}
	survives := func(t TimerID) bool { return t >= MachineTimer && !powerLost }
	s.queue.removeIf(func(p *pending) bool {
		return p.node == id && !(p.kind == Fire && survives(p.timer))
	}, func(p *pending) {
		if p.kind == Deliver {
			s.observer.Lost(s.now, &p.message, LostToCrash)
		}
	})
	for i := range n.backlog {
		if n.backlog[i].kind == Deliver {
			s.observer.Lost(s.now, &n.backlog[i].message, LostToCrash)
		}
	}
	n.backlog = nil
	n.timers = slices.DeleteFunc(n.timers, func(t timer) bool { return !survives(t.id) })
	s.loseHeld(func(m *Message) bool { return m.To == id }, LostToCrash)
	for _, other := range s.nodes {
		if other == nil {
			continue
		}
		for i := range other.conns {
			c := &other.conns[i]
			if !c.open || c.conn.Client != id && c.conn.Server != id {
				continue
			}
			c.open = false
			peer := c.conn.Client
			if peer == id {
				peer = c.conn.Server
			}
			if !powerLost && peer != id {
				s.announceClose(c, id, peer, s.nodes[peer].incarnation)
			}
		}
	}
}

// Restart begins a new life of a node's process, with its Start input now.
func (s *Scheduler) Restart(id NodeID) {
	n := s.nodes[id]
	n.status = Up
	n.incarnation++
	s.schedule(s.now, &pending{kind: Start, node: id})
}

// Freeze suspends a node: what comes for it waits, in order.
func (s *Scheduler) Freeze(id NodeID) { s.nodes[id].status = Frozen }

// Thaw lets a frozen node go on; what waited comes now, in order.
func (s *Scheduler) Thaw(id NodeID) {
	n := s.nodes[id]
	n.status = Up
	backlog := n.backlog
	n.backlog = nil
	for i := range backlog {
		s.schedule(s.now, &backlog[i])
	}
}

// Cut cuts one direction of a link. What is in flight on it is lost at once.
func (s *Scheduler) Cut(from, to NodeID) {
	s.network.cuts[from] |= 1 << uint(to)
	on := func(m *Message) bool { return m.From == from && m.To == to }
	s.queue.removeIf(func(p *pending) bool {
		return (p.kind == Deliver || p.kind == Disconnected) && on(&p.message)
	}, func(p *pending) {
		if p.kind == Deliver {
			s.observer.Lost(s.now, &p.message, LostToCut)
		}
	})
	s.loseHeld(on, LostToCut)
}

// Heal ends a cut of one direction of a link.
func (s *Scheduler) Heal(from, to NodeID) { s.network.cuts[from] &^= 1 << uint(to) }

// IsCut reports whether a direction is cut; IsHeld whether it is held; SlowBy by how much it is slowed.
func (s *Scheduler) IsCut(from, to NodeID) bool  { return s.network.cut(from, to) }
func (s *Scheduler) IsHeld(from, to NodeID) bool { return s.network.held(from, to) }
func (s *Scheduler) SlowBy(from, to NodeID) Time { return s.network.slow(from, to) }

// Hold lets nothing arrive on one direction of a link any more; order is kept.
func (s *Scheduler) Hold(from, to NodeID) { s.network.holds[from] |= 1 << uint(to) }

// Release ends a hold: what waited arrives now, in order.
func (s *Scheduler) Release(from, to NodeID) {
	s.network.holds[from] &^= 1 << uint(to)
	kept := s.held[:0]
	var released []Message
	for _, m := range s.held {
		if m.From == from && m.To == to {
			released = append(released, m)
		} else {
			kept = append(kept, m)
		}
	}
	s.held = kept
	for i := range released {
		m := &released[i]
		m.DeliverAt = s.now
		s.observer.Released(s.now, m)
		s.schedule(s.now, &pending{kind: Deliver, node: m.To, message: *m})
	}
}

func (s *Scheduler) loseHeld(lose func(*Message) bool, why LossReason) {
	kept := s.held[:0]
	for i := range s.held {
		if lose(&s.held[i]) {
			s.observer.Lost(s.now, &s.held[i], why)
		} else {
			kept = append(kept, s.held[i])
		}
	}
	s.held = kept
}

// Slow adds to the latency of one direction of a link; zero ends it.
func (s *Scheduler) Slow(from, to NodeID, by Time) {
	s.network.slows = slices.DeleteFunc(s.network.slows, func(l slowLink) bool { return l.from == from && l.to == to })
	if by > 0 {
		s.network.slows = append(s.network.slows, slowLink{from, to, by})
	}
}
