package coord

import (
	"slices"
	"strconv"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// NodeID is ZooKeeper's node in the simulation.
const NodeID sim.NodeID = 0

// Server is ZooKeeper: the tree, the sessions and their watches.
type Server struct {
	tree     tree
	sessions []session // by id
	lastID   int64
	watches  []watch // in the order in which they were left
	// assignments are what the topics' znodes say, by partition: for whoever looks on.
	assignments []protocol.Replicas
	catalog     *protocol.Catalog
}

// NewServer makes an empty ZooKeeper. The catalog numbers the partitions.
func NewServer(catalog *protocol.Catalog) *Server { return &Server{catalog: catalog} }

// Assignment is a partition's assignment, as its topic's znode says.
func (s *Server) Assignment(p protocol.Partition) protocol.Replicas { return s.assignments[p] }

type session struct {
	id          int64
	owner       sim.NodeID
	incarnation uint32   // of the owner's process that is connected
	conn        sim.Conn // over which it is connected
	timeout     sim.Time
	heard       sim.Time
	events      uint64 // watch events sent over this connection
}

type watch struct {
	session int64
	watchName
}

// timerExpiry is the server's only timer: the earliest end of a session.
const timerExpiry sim.TimerID = 1

// Step implements sim.Node.
func (s *Server) Step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	switch in.Kind {
	case sim.Deliver:
		if r, ok := in.Message.Body.(*Request); ok {
			s.request(now, &in.Message, r, out)
		}
	case sim.Fire:
		s.expire(now, out)
	case sim.Tell:
		switch x := in.Command.(type) {
		case ExpireSessionOf:
			for i := range s.sessions {
				if s.sessions[i].owner == x.Node {
					s.end(i, trace.SessionExpired, out)
					break
				}
			}
			s.armExpiry(now, out)
		case Admin:
			s.write(&x.Op, 0, out)
		}
	}
}

// ExpireSessionOf is a command: end the (oldest) session of a node.
type ExpireSessionOf struct{ Node sim.NodeID }

// Admin is a command: a write by an administrator's tool, such as the creation of a
// topic. It happens at once; what comes of it travels as ever.
type Admin struct{ Op Op }

// HasSession reports whether a node has a session.
func (s *Server) HasSession(id sim.NodeID) bool {
	return slices.ContainsFunc(s.sessions, func(x session) bool { return x.owner == id })
}

// Exists reports whether there is a znode.
func (s *Server) Exists(path string) bool { return s.tree.find(path) != nil }

func (s *Server) request(now sim.Time, m *sim.Message, r *Request, out *sim.Outbox) {
	if r.Op.Kind == OpenSession {
		s.open(now, m, r, out)
		return
	}
	i := s.find(r.Session)
	if i < 0 {
		out.Reply(m, &Answer{Kind: r.Op.Kind, Err: SessionExpired})
		return
	}
	s.sessions[i].heard = now
	a := &Answer{Kind: r.Op.Kind}
	switch r.Op.Kind {
	case Ping:
	case CloseSession:
		s.end(i, trace.SessionClosed, out)
	case Get, Exists, Children:
		*a = s.read(&r.Op, r.Session)
	case SetWatches:
		s.rearm(&r.Op, r.Session, out)
	default:
		*a = s.write(&r.Op, r.Session, out)
	}
	a.Zxid = s.tree.zxid
	if i := s.find(r.Session); i >= 0 {
		a.Events = s.sessions[i].events
	}
	out.Reply(m, a)
}

// open opens a session, or takes one up again over a new connection.
func (s *Server) open(now sim.Time, m *sim.Message, r *Request, out *sim.Outbox) {
	a := &Answer{Kind: OpenSession}
	if r.Session != 0 {
		i := s.find(r.Session)
		if i < 0 {
			a.Err = SessionExpired
			out.Reply(m, a)
			return
		}
		x := &s.sessions[i]
		x.heard, x.conn, x.incarnation, x.events = now, m.Conn, m.FromIncarnation, 0
		a.Session = x.id
		out.Reply(m, a)
		return
	}
	s.lastID++
	s.sessions = append(s.sessions, session{id: s.lastID, owner: m.From, incarnation: m.FromIncarnation, conn: m.Conn, timeout: r.Op.Timeout, heard: now})
	trace.Emit(out, trace.Event{Kind: trace.SessionOpened, Node: NodeID, Peer: m.From, Session: s.lastID, At: r.Op.Timeout})
	a.Session = s.lastID
	out.Reply(m, a)
	s.armExpiry(now, out)
}

func (s *Server) read(op *Op, session int64) Answer {
	a := Answer{Kind: op.Kind, Path: op.Path}
	z := s.tree.find(op.Path)
	switch {
	case z == nil:
		a.Err = NoNode
	case op.Kind == Children:
		a.Children, a.Stat = s.tree.children(op.Path), z.stat()
	default:
		a.Data, a.Stat = z.data, z.stat()
	}
	if op.Watch && (z != nil || op.Kind == Exists) {
		kind := WatchData
		if op.Kind == Children {
			kind = WatchChildren
		}
		s.watch(watch{session, watchName{op.Path, kind}})
	}
	return a
}

func (s *Server) watch(w watch) {
	if !slices.Contains(s.watches, w) {
		s.watches = append(s.watches, w)
	}
}

// write does a transaction. Watch events go out before the answer.
func (s *Server) write(op *Op, session int64, out *sim.Outbox) Answer {
	s.tree.zxid++
	var a Answer
	var changes []change
	if op.Kind == Multi {
		a, changes = s.tree.multi(op, session)
	} else {
		a, changes = s.tree.apply(op, session)
	}
	if a.Err != OK {
		s.tree.zxid--
	}
	s.publish(changes, out)
	return a
}

// publish tells the observer of changes and fires their watches.
func (s *Server) publish(changes []change, out *sim.Outbox) {
	for _, c := range changes {
		e := trace.Event{Kind: trace.ZnodeDeleted, Node: NodeID, Path: c.path}
		if z := s.tree.find(c.path); z != nil && c.kind != NodeDeleted {
			e.Text, e.Version, e.Session = z.data, z.version, z.owner
			e.Kind = trace.ZnodeCreated
			if c.kind == NodeDataChanged {
				e.Kind, e.Session = trace.ZnodeChanged, 0
			}
		}
		before := trace.Because(out, trace.Emit(out, e))
		if topic, ok := strings.CutPrefix(c.path, TopicsPath+"/"); ok && e.Kind != trace.ZnodeDeleted && !strings.Contains(topic, "/") {
			s.assigned(topic, e.Text, out)
		}
		s.fire(c.path, WatchData, c.kind, out)
		if c.kind != NodeDataChanged {
			if c.kind == NodeDeleted {
				s.fire(c.path, WatchChildren, NodeDeleted, out)
			}
			s.fire(parent(c.path), WatchChildren, NodeChildrenChanged, out)
		}
		trace.Because(out, before)
	}
}

// assigned keeps up with what a topic's znode says, and tells of changes.
func (s *Server) assigned(topic, data string, out *sim.Outbox) {
	assignment, err := DecodeAssignment(data)
	if err != nil {
		return
	}
	for i := range s.catalog.Len() {
		p := protocol.Partition(i)
		tp := s.catalog.Name(p)
		l, ok := assignment[strconv.Itoa(tp.Index)]
		if tp.Topic != topic || !ok {
			continue
		}
		for len(s.assignments) <= i {
			s.assignments = append(s.assignments, protocol.Replicas{})
		}
		before, now := s.assignments[i], protocol.ReplicasOf(l...)
		s.assignments[i] = now
		if before != now && before.Len() > 0 {
			trace.Emit(out, trace.Event{Kind: trace.AssignmentChanged, Partition: p, Replicas: now})
		}
	}
}

// fire takes the watches of a path off and sends their events.
func (s *Server) fire(path string, kind WatchKind, what WatchType, out *sim.Outbox) {
	var fired []watch
	s.watches = slices.DeleteFunc(s.watches, func(w watch) bool {
		if w.path == path && w.kind == kind {
			fired = append(fired, w)
			return true
		}
		return false
	})
	for _, w := range fired {
		s.notify(w, what, out)
	}
}

func (s *Server) notify(w watch, what WatchType, out *sim.Outbox) {
	i := s.find(w.session)
	if i < 0 {
		return
	}
	x := &s.sessions[i]
	before := trace.Because(out, trace.Emit(out, trace.Event{Kind: trace.WatchFired, Node: NodeID, Peer: x.owner, Path: w.path, Text: what.String()}))
	x.events++
	out.Push(x.conn, x.incarnation, &WatchEvent{Path: w.path, Kind: w.kind, Type: what, Nth: x.events})
	trace.Because(out, before)
}

// rearm leaves a reconnected client's watches again, and fires those that missed
// something while it was away.
func (s *Server) rearm(op *Op, session int64, out *sim.Outbox) {
	for _, name := range op.Watches {
		w := watch{session, name}
		z := s.tree.find(name.path)
		armed := slices.Contains(s.watches, w)
		s.watches = slices.DeleteFunc(s.watches, func(x watch) bool { return x == w })
		switch {
		case z == nil && !armed:
			s.notify(w, NodeDeleted, out)
		case z == nil:
			s.watch(w)
		case name.kind == WatchData && z.czxid > op.LastZxid:
			s.notify(w, NodeCreated, out)
		case name.kind == WatchData && z.mzxid > op.LastZxid:
			s.notify(w, NodeDataChanged, out)
		case name.kind == WatchChildren && z.pzxid > op.LastZxid:
			s.notify(w, NodeChildrenChanged, out)
		default:
			s.watch(w)
		}
	}
}

// end ends a session: its watches go, and its ephemerals in one transaction.
func (s *Server) end(i int, kind trace.Kind, out *sim.Outbox) {
	x := s.sessions[i]
	s.sessions = slices.Delete(s.sessions, i, i+1)
	s.watches = slices.DeleteFunc(s.watches, func(w watch) bool { return w.session == x.id })
	before := trace.Because(out, trace.Emit(out, trace.Event{Kind: kind, Node: NodeID, Peer: x.owner, Session: x.id}))
	s.tree.zxid++
	var changes []change
	for k := 0; k < len(s.tree.nodes); {
		if s.tree.nodes[k].owner != x.id {
			k++
			continue
		}
		_, c := s.tree.apply(&Op{Kind: Delete, Path: s.tree.nodes[k].path, Version: AnyVersion}, x.id)
		changes = append(changes, c...)
	}
	s.publish(changes, out)
	trace.Because(out, before)
}

func (s *Server) expire(now sim.Time, out *sim.Outbox) {
	for i := 0; i < len(s.sessions); {
		if s.sessions[i].heard+s.sessions[i].timeout <= now {
			s.end(i, trace.SessionExpired, out)
		} else {
			i++
		}
	}
	s.armExpiry(now, out)
}

// armExpiry sets the timer to the earliest end. It is set again only when it fires:
// a session that was heard of meanwhile is found alive then.
func (s *Server) armExpiry(now sim.Time, out *sim.Outbox) {
	at := sim.Never
	for i := range s.sessions {
		at = min(at, s.sessions[i].heard+s.sessions[i].timeout)
	}
	if at != sim.Never {
		out.SetTimer(timerExpiry, at-now)
	}
}

func (s *Server) find(id int64) int {
	return slices.IndexFunc(s.sessions, func(x session) bool { return x.id == id })
}

// Clone is an independent copy.
func (s *Server) Clone(catalog *protocol.Catalog) *Server {
	return &Server{
		assignments: slices.Clone(s.assignments), catalog: catalog,
		tree:     tree{s.tree.zxid, slices.Clone(s.tree.nodes)},
		sessions: slices.Clone(s.sessions), lastID: s.lastID, watches: slices.Clone(s.watches),
	}
}

// Prepare creates the persistent parents that Kafka's brokers expect, before time
// begins. Kafka: KafkaZkClient.createTopLevelPaths.
func (s *Server) Prepare(rec *trace.Recorder) {
	for _, path := range []string{"/admin", "/admin/delete_topics", "/brokers", "/brokers/ids", "/brokers/seqid", "/brokers/topics",
		"/config", "/config/brokers", "/config/changes", "/config/clients", "/config/topics", "/config/users",
		"/consumers", "/isr_change_notification"} {
		s.tree.zxid++
		s.tree.apply(&Op{Kind: Create, Path: path}, 0)
		rec.Emit(trace.Event{Kind: trace.ZnodeCreated, Node: NodeID, Path: path})
	}
}

// Describe adds the server's visible state to a snapshot.
func (s *Server) Describe(snap *trace.Snapshot) {
	for _, z := range s.tree.nodes {
		snap.Znodes = append(snap.Znodes, trace.ZnodeState{Path: z.path, Data: z.data, Version: z.version, Owner: z.owner})
	}
	for _, x := range s.sessions {
		snap.Sessions = append(snap.Sessions, trace.SessionState{ID: x.id, Node: x.owner, Timeout: x.timeout, Heard: x.heard})
	}
}

var _ protocol.Body = (*Request)(nil)
