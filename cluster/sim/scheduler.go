package sim

import (
	"cmp"
	"fmt"
	"slices"
)

// Scheduler runs nodes in virtual time. It is owned by one goroutine.
type Scheduler struct {
	now      Time
	order    uint64 // ties at the same time are broken by the order of scheduling
	steps    uint64
	seed     uint64
	hash     uint64
	queue    queue
	nodes    []*nodeState // by NodeID; nil where there is none
	network  network
	held     []Message // waiting at the end of held links, in order of arrival
	observer Observer
	out      Outbox // reused by every step, as is in
	in       Input
	sending  Message
}

// Status is what a node's machine and process do.
type Status uint8

// The statuses of a node.
const (
	Up     Status = iota // runs
	Down                 // the process is gone, the machine refuses connections
	Off                  // no power: silence
	Frozen               // the process does not run, the machine is silent
)

// nodeState is what the scheduler keeps of a node.
type nodeState struct {
	node        Node
	status      Status
	incarnation uint32
	timers      []timer
	conns       []connState // connections that this node opened
	backlog     []pending   // what came while frozen, in order
}

// timer has at most one valid item in the queue. A timer that is moved back keeps its
// item: when that comes up, it is queued again for the later time.
type timer struct {
	id         TimerID
	generation uint32 // of the valid item
	at         Time   // Never when not armed
	queued     Time   // of the valid item; Never when there is none
	cause      Seq    // the event in which it was armed
}

// NewScheduler makes an empty world that begins at a time.
func NewScheduler(seed uint64, begin Time, observer Observer) *Scheduler {
	return &Scheduler{seed: seed, now: begin, observer: observer, hash: mix(seed)}
}

// Add puts a node into the world, up and in its first life. Its Start input comes
// with the next step at the present time.
func (s *Scheduler) Add(id NodeID, n Node) {
	if id < 0 || id >= MaxNodes {
		panic(fmt.Sprintf("sim: node id %d out of range", id))
	}
	for int(id) >= len(s.nodes) {
		s.nodes = append(s.nodes, nil)
	}
	s.nodes[id] = &nodeState{node: n, incarnation: 1}
	s.schedule(s.now, &pending{kind: Start, node: id})
}

// Now is the present time.
func (s *Scheduler) Now() Time { return s.now }

// Steps counts the steps taken.
func (s *Scheduler) Steps() uint64 { return s.steps }

// Hash is a running hash over every step: which node, when, what.
func (s *Scheduler) Hash() uint64 { return s.hash }

// Mix folds a number into a running hash.
func Mix(hash, v uint64) uint64 { return (hash ^ v) * 0x100000001b3 }

// Status is the status of a node.
func (s *Scheduler) Status(id NodeID) Status { return s.nodes[id].status }

// Incarnation counts the lives of a node's process, from 1.
func (s *Scheduler) Incarnation(id NodeID) uint32 { return s.nodes[id].incarnation }

// Next is the time of the next step, and whether there is one.
func (s *Scheduler) Next() (Time, bool) {
	s.skipStale()
	if len(s.queue.heap) == 0 {
		return 0, false
	}
	return s.queue.heap[0].at, true
}

// Step takes exactly one step and reports whether there was one to take.
func (s *Scheduler) Step() bool { return s.StepUntil(Never) }

// StepUntil takes one step that comes at or before t, and reports whether there was one.
// What comes to nothing on the way (a message to a held link or a frozen node) is dealt with.
func (s *Scheduler) StepUntil(t Time) bool {
	for {
		s.skipStale()
		if len(s.queue.heap) == 0 || s.queue.heap[0].at > t {
			return false
		}
		it := s.queue.pop()
		s.now = it.at
		p := &s.queue.slots[it.slot]
		taken := s.take(p)
		s.queue.release(it.slot)
		if taken {
			return true
		}
	}
}

// Advance moves the present to t, which must not be after the next step.
func (s *Scheduler) Advance(t Time) {
	if t > s.now {
		s.now = t
	}
}

// Tell hands a command to a node as a step of its own, now.
func (s *Scheduler) Tell(id NodeID, command any) {
	s.in = Input{Kind: Tell, Command: command}
	s.run(id)
}

// take gives what is due to its node; false means that it came to nothing
// (it joined a frozen node's backlog, a held link, or was lost).
func (s *Scheduler) take(p *pending) bool {
	n := s.nodes[p.node]
	switch p.kind {
	case Deliver:
		m := &p.message
		if s.network.held(m.From, m.To) {
			s.observer.Held(s.now, m)
			s.held = append(s.held, *m)
			return false
		}
		if !s.arrive(p) {
			return false
		}
	case Disconnected:
		m := &p.message // only the envelope is used
		if n.status == Frozen {
			n.backlog = append(n.backlog, *p)
			return false
		}
		if n.status != Up || m.ToIncarnation != 0 && m.ToIncarnation != n.incarnation {
			return false
		}
		s.in = Input{Kind: Disconnected, Peer: m.From, Conn: m.Conn, Cause: p.cause}
	case Fire:
		machine := p.timer >= MachineTimer
		if n.status == Frozen && !machine {
			n.backlog = append(n.backlog, *p)
			return false
		}
		t := n.timer(p.timer)
		if t == nil || t.generation != p.generation || t.at > s.now || n.status != Up && !machine {
			return false
		}
		t.at, t.queued = Never, Never
		s.in = Input{Kind: Fire, Timer: p.timer, Cause: t.cause}
	default:
		if n.status == Frozen {
			n.backlog = append(n.backlog, *p)
			return false
		}
		if n.status != Up {
			return false
		}
		s.in = Input{Kind: p.kind, Cause: p.cause}
	}
	s.run(p.node)
	return true
}

// arrive prepares the arrival of a message; false means that nobody gets it now.
func (s *Scheduler) arrive(p *pending) bool {
	n, m := s.nodes[p.node], &p.message
	switch {
	case n.status == Frozen:
		n.backlog = append(n.backlog, *p)
		return false
	case n.status == Down:
		s.observer.Lost(s.now, m, LostToCrash)
		s.refuse(m)
		return false
	case n.status == Off:
		s.observer.Lost(s.now, m, LostToCrash)
		return false
	case m.ToIncarnation != 0 && m.ToIncarnation != n.incarnation:
		s.observer.Lost(s.now, m, LostToOldLife)
		return false
	}
	s.in = Input{Kind: Deliver, Message: *m}
	return true
}

// Heads calls f for every message that has left its sender and is the first one under way
// on its connection in its direction: those that may arrive next, if a network may take any
// time. The messages must not be kept or changed.
func (s *Scheduler) Heads(f func(m *Message)) {
	var first []*Message
	consider := func(m *Message) {
		for i, x := range first {
			if x.Conn == m.Conn && x.Answer == m.Answer {
				if m.ID < x.ID {
					first[i] = m
				}
				return
			}
		}
		first = append(first, m)
	}
	for i := range s.held {
		consider(&s.held[i])
	}
	for _, it := range s.queue.heap {
		if p := &s.queue.slots[it.slot]; p.kind == Deliver {
			consider(&p.message)
		}
	}
	slices.SortFunc(first, func(a, b *Message) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range first {
		if m.SentAt <= s.now {
			f(m)
		}
	}
}

// Arrive lets a message arrive now, as a step of its own. It must be one of [Scheduler.Heads].
func (s *Scheduler) Arrive(id Seq) {
	p := pending{kind: Deliver}
	take := func(m *Message) { p.node, p.message = m.To, *m }
	if i := slices.IndexFunc(s.held, func(m Message) bool { return m.ID == id }); i >= 0 {
		take(&s.held[i])
		s.held = slices.Delete(s.held, i, i+1)
	} else {
		s.queue.removeIf(func(q *pending) bool { return q.kind == Deliver && q.message.ID == id }, func(q *pending) { take(&q.message) })
	}
	if s.arrive(&p) {
		s.run(p.node)
	}
}

// run gives the prepared input to a node.
func (s *Scheduler) run(id NodeID) {
	s.steps++
	s.hash = Mix(Mix(s.hash, uint64(s.now)), uint64(id)<<40|uint64(s.in.Kind)<<32|uint64(s.in.Timer))
	if s.in.Kind == Deliver {
		s.hash = Mix(s.hash, uint64(s.in.Message.ID))
	}
	s.out = Outbox{s: s, node: id}
	s.observer.Begin(s.now, id, &s.in)
	s.nodes[id].node.Step(s.now, &s.in, &s.out)
	s.in.Message.Body, s.in.Command = nil, nil
	if s.out.exit {
		s.Crash(id, false)
	}
}

// skipStale deals with timers at the head of the queue that were stopped or moved
// meanwhile, so that a step is always something that happens.
func (s *Scheduler) skipStale() {
	for len(s.queue.heap) > 0 {
		head := s.queue.heap[0]
		p := &s.queue.slots[head.slot]
		if p.kind != Fire {
			return
		}
		t := s.nodes[p.node].timer(p.timer)
		if t != nil && t.generation == p.generation && t.at == head.at {
			return
		}
		s.queue.release(s.queue.pop().slot)
		if t != nil && t.generation == p.generation {
			t.queued = Never
			if t.at != Never {
				s.queueTimer(p.node, t)
			}
		}
	}
}

func (s *Scheduler) queueTimer(node NodeID, t *timer) {
	t.at = max(t.at, s.now) // a frozen node's timer may be due for long
	t.generation++
	t.queued = t.at
	s.schedule(t.at, &pending{kind: Fire, node: node, timer: t.id, generation: t.generation, cause: t.cause})
}

func (s *Scheduler) schedule(at Time, p *pending) {
	s.order++
	if p.cause == 0 && p.kind != Deliver {
		p.cause = s.observer.Cause()
	}
	s.queue.push(at, s.order, p)
}

func (n *nodeState) timer(id TimerID) *timer {
	for i := range n.timers {
		if n.timers[i].id == id {
			return &n.timers[i]
		}
	}
	return nil
}

func (s *Scheduler) setTimer(id NodeID, tid TimerID, at Time) {
	n := s.nodes[id]
	t := n.timer(tid)
	if t == nil {
		n.timers = append(n.timers, timer{id: tid, at: Never, queued: Never})
		t = &n.timers[len(n.timers)-1]
	}
	t.at, t.cause = at, s.observer.Cause()
	if at < t.queued {
		s.queueTimer(id, t)
	}
}

// Pending calls f for every message under way, in order of arrival, the held
// ones first; it is for snapshots and tests.
func (s *Scheduler) Pending(f func(m *Message, held bool)) {
	for i := range s.held {
		f(&s.held[i], true)
	}
	items := slices.Clone(s.queue.heap)
	sortItems(items)
	for _, it := range items {
		if p := &s.queue.slots[it.slot]; p.kind == Deliver {
			f(&p.message, false)
		}
	}
	for _, n := range s.nodes {
		if n == nil {
			continue
		}
		for i := range n.backlog {
			if n.backlog[i].kind == Deliver {
				f(&n.backlog[i].message, false)
			}
		}
	}
}

func sortItems(items []item) {
	slices.SortFunc(items, func(a, b item) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return cmp.Compare(a.order, b.order)
	})
}

// Clone copies the world. The copy has the nodes and the observer given; bodies of
// messages are immutable and shared.
func (s *Scheduler) Clone(observer Observer, clone func(NodeID, Node) Node) *Scheduler {
	c := *s
	c.observer = observer
	c.queue = s.queue.clone()
	c.held = slices.Clone(s.held)
	c.network = s.network.clone()
	c.in, c.out = Input{}, Outbox{}
	c.nodes = make([]*nodeState, len(s.nodes))
	states := make([]nodeState, len(s.nodes))
	for id, n := range s.nodes {
		if n == nil {
			continue
		}
		states[id] = nodeState{
			node: clone(NodeID(id), n.node), status: n.status, incarnation: n.incarnation,
			timers: slices.Clone(n.timers), conns: slices.Clone(n.conns), backlog: slices.Clone(n.backlog),
		}
		c.nodes[id] = &states[id]
	}
	return &c
}
