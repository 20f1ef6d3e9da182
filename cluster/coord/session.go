package coord

import (
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Session is the client half of a session: a part of a broker, which hands it its
// inputs and gets [Notice] values back.
type Session struct {
	state    sessionState
	id       int64
	timeout  sim.Time
	attempt  sim.Seq  // the open request that is under way
	calls    []call   // submitted and not answered, in order; all sent while connected
	heard    sim.Time // when the server was last heard of
	sent     sim.Time // when something was last sent
	lastZxid int64
	watches  []watchName
	events   uint64 // watch events that came over this connection
	// KeepCalls lets what was submitted outlive the session: it is sent again in the next
	// one. So does ZkClient, which Kafka used before 1.1.
	KeepCalls bool
}

type sessionState uint8

const (
	closed     sessionState = iota
	connecting              // an open request is under way
	connected
	waiting // between two tries
)

// Tag says who submitted an operation and what for. It is plain data that comes
// back with the answer.
type Tag struct {
	Owner     uint8
	What      uint8
	Partition protocol.Partition
	N         int64
}

type call struct {
	tag Tag
	op  Op
	id  sim.Seq // of the request, 0 while not sent
}

// NoticeKind is what a session has to say.
type NoticeKind uint8

// The kinds of notice.
const (
	Connected    NoticeKind = iota + 1 // a new session was opened
	Reconnected                        // the same session over a new connection
	Disconnected                       // the connection is lost; the session may live
	Expired                            // the session is gone; calls that waited are lost, or kept for the next
	Answered                           // Tag, Answer
	Watched                            // Watch
)

// Notice is what a session has to say.
type Notice struct {
	Kind   NoticeKind
	Tag    Tag
	Answer *Answer
	Watch  *WatchEvent
}

// TimerSession is the timer that a broker passes on to its session.
const TimerSession sim.TimerID = 1

// retryConnect is the pause between two tries to connect (ZooKeeper's client: up to a second).
const retryConnect = sim.Second

// Open begins to open a new session. Timeout is zookeeper.session.timeout.ms.
func (s *Session) Open(now sim.Time, timeout sim.Time, out *sim.Outbox) {
	*s = Session{timeout: timeout, calls: s.calls, KeepCalls: s.KeepCalls}
	s.connect(now, out)
}

// ID is the session's number, 0 without one; IsConnected whether it has a connection.
func (s *Session) ID() int64         { return s.id }
func (s *Session) IsConnected() bool { return s.state == connected }

// Submit sends an operation when there is a connection. Its answer comes as a
// notice. After a lost connection it is sent again: it may then have happened twice.
// Kafka: KafkaZkClient.retryRequestsUntilConnected.
func (s *Session) Submit(now sim.Time, op Op, tag Tag, out *sim.Outbox) {
	s.calls = append(s.calls, call{tag: tag, op: op})
	if s.state == connected {
		s.send(now, &s.calls[len(s.calls)-1], out)
	}
}

// Forget drops what an owner has submitted.
func (s *Session) Forget(owner uint8) {
	s.calls = slices.DeleteFunc(s.calls, func(c call) bool { return c.tag.Owner == owner })
}

// Close ends the session in good order.
func (s *Session) Close(out *sim.Outbox) {
	if s.state == connected {
		out.Request(NodeID, protocol.ForZooKeeper, &Request{Session: s.id, Op: Op{Kind: CloseSession}})
	}
	*s = Session{}
}

func (s *Session) connect(now sim.Time, out *sim.Outbox) {
	s.state = connecting
	s.sent = now
	s.attempt = out.Request(NodeID, protocol.ForZooKeeper, &Request{Session: s.id, Op: Op{Kind: OpenSession, Timeout: s.timeout}})
	out.SetTimer(TimerSession, s.timeout/3)
}

func (s *Session) send(now sim.Time, c *call, out *sim.Outbox) {
	s.sent = now
	c.id = out.Request(NodeID, protocol.ForZooKeeper, &Request{Session: s.id, Op: c.op})
	if c.op.Watch {
		kind := WatchData
		if c.op.Kind == Children {
			kind = WatchChildren
		}
		if w := (watchName{c.op.Path, kind}); !slices.Contains(s.watches, w) {
			s.watches = append(s.watches, w)
		}
	}
}

// Deliver takes a message from ZooKeeper.
func (s *Session) Deliver(now sim.Time, m *sim.Message, out *sim.Outbox) (Notice, bool) {
	switch b := m.Body.(type) {
	case *WatchEvent:
		if s.state != connected {
			return Notice{}, false
		}
		if b.Nth != s.events+1 {
			return s.lost(now, out) // see broken
		}
		// It does not say up to where the client has seen everything: the watch of an earlier
		// change may be told after it. In ZooKeeper it has no zxid.
		s.events++
		s.heard = now
		s.watches = slices.DeleteFunc(s.watches, func(w watchName) bool { return w.path == b.Path && w.kind == b.Kind })
		return Notice{Kind: Watched, Watch: b}, true
	case *Answer:
		if b.Kind == OpenSession {
			return s.opened(now, m, b, out)
		}
		if s.state != connected {
			return Notice{}, false
		}
		if b.Err == SessionExpired {
			return s.expired(out), true
		}
		if s.broken(m, b) {
			return s.lost(now, out)
		}
		s.heard, s.lastZxid = now, max(s.lastZxid, b.Zxid)
		i := slices.IndexFunc(s.calls, func(c call) bool { return c.id == m.InReplyTo })
		if i < 0 {
			return Notice{}, false // a ping's answer
		}
		tag := s.calls[i].tag
		s.calls = slices.Delete(s.calls, i, i+1)
		return Notice{Kind: Answered, Tag: tag, Answer: b}, true
	}
	return Notice{}, false
}

// broken reports whether something that must have come before an answer has not: a watch
// event, or the answer to an earlier request. It was lost, and a connection that lost
// something brings nothing more: the client has to connect again, and asks then for the
// changes since what it saw last. ZooKeeper's client says «xid out of order».
func (s *Session) broken(m *sim.Message, a *Answer) bool {
	return a.Events != s.events || slices.ContainsFunc(s.calls, func(c call) bool { return c.id != 0 && c.id < m.InReplyTo })
}

func (s *Session) opened(now sim.Time, m *sim.Message, a *Answer, out *sim.Outbox) (Notice, bool) {
	if s.state != connecting || m.InReplyTo != s.attempt {
		return Notice{}, false
	}
	if a.Err == SessionExpired {
		return s.expired(out), true
	}
	kind := Reconnected
	if s.id == 0 {
		kind = Connected
	}
	s.state, s.id, s.heard, s.events = connected, a.Session, now, 0
	trace.Emit(out, trace.Event{Kind: trace.ZooKeeperConnected, Node: out.Node(), Session: s.id})
	if kind == Reconnected && len(s.watches) > 0 {
		out.Request(NodeID, protocol.ForZooKeeper, &Request{Session: s.id, Op: Op{Kind: SetWatches, LastZxid: s.lastZxid, Watches: slices.Clone(s.watches)}})
	}
	// The answer says nothing of what the client has seen: changes up to its zxid may still
	// have to be told. ZooKeeper's ConnectResponse has none.
	for i := range s.calls {
		s.send(now, &s.calls[i], out)
	}
	s.sent = now
	s.arm(now, out)
	return Notice{Kind: kind}, true
}

// expired forgets the session. Its owner has to open another.
func (s *Session) expired(out *sim.Outbox) Notice {
	before := *s
	*s = Session{timeout: before.timeout, KeepCalls: before.KeepCalls}
	if s.KeepCalls {
		s.calls = before.calls
		for i := range s.calls {
			s.calls[i].id = 0
		}
	}
	out.StopTimer(TimerSession)
	trace.Emit(out, trace.Event{Kind: trace.ZooKeeperSessionLost, Node: out.Node()})
	return Notice{Kind: Expired}
}

// Closed takes the news that the connection was closed by the server.
func (s *Session) Closed(now sim.Time, out *sim.Outbox) (Notice, bool) { return s.lost(now, out) }

// lost notes that the connection is gone and tries again.
func (s *Session) lost(now sim.Time, out *sim.Outbox) (Notice, bool) {
	was := s.state
	for i := range s.calls {
		s.calls[i].id = 0
	}
	s.state = waiting
	out.SetTimer(TimerSession, retryConnect)
	if was != connected {
		return Notice{}, false
	}
	trace.Emit(out, trace.Event{Kind: trace.ZooKeeperDisconnected, Node: out.Node()})
	s.connect(now, out)
	return Notice{Kind: Disconnected}, true
}

// Fire takes the session's timer: it pings, notices silence, and tries to connect.
// ZooKeeper's client pings after a third of the timeout and gives a server up after two thirds.
func (s *Session) Fire(now sim.Time, out *sim.Outbox) (Notice, bool) {
	switch s.state {
	case waiting:
		s.connect(now, out)
	case connecting:
		return s.lost(now, out)
	case connected:
		if now-s.heard >= s.timeout*2/3 {
			return s.lost(now, out)
		}
		if now-s.sent >= s.timeout/3 {
			s.sent = now
			out.Request(NodeID, protocol.ForZooKeeper, &Request{Session: s.id, Op: Op{Kind: Ping}})
		}
		s.arm(now, out)
	}
	return Notice{}, false
}

func (s *Session) arm(now sim.Time, out *sim.Outbox) {
	next := min(s.sent+s.timeout/3, s.heard+s.timeout*2/3)
	out.SetTimer(TimerSession, max(next-now, sim.Millisecond))
}

// Clone is an independent copy.
func (s *Session) Clone() Session {
	c := *s
	c.calls = slices.Clone(s.calls)
	c.watches = slices.Clone(s.watches)
	return c
}
