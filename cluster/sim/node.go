package sim

// Node is a state machine. Step must change only the node itself and the
// outbox; it may keep neither of its pointer arguments.
type Node interface {
	Step(now Time, in *Input, out *Outbox)
}

// InputKind says which fields of an Input are meaningful.
type InputKind uint8

// The kinds of input.
const (
	Start        InputKind = iota // the node's process starts: no further fields
	Deliver                       // Message arrives
	Fire                          // Timer goes off
	Tell                          // Command comes from outside the simulation
	Disconnected                  // the connection Conn with Peer was closed by the peer
)

// Input is one thing that happens to a node.
type Input struct {
	Kind    InputKind
	Message Message // Deliver
	Timer   TimerID // Fire
	Command any     // Tell
	Peer    NodeID  // Disconnected
	Conn    Conn    // Disconnected
	Cause   Seq     // what led to it: the event in which the timer was armed, the process started, the connection closed
}

// TimerID names a timer within its node.
type TimerID uint32

// MachineTimer is the first id of timers that belong to a node's machine, not to its
// process: they go off while the process is dead or suspended, until power is lost.
const MachineTimer TimerID = 1 << 16

// Outbox takes the effects of one step of one node.
type Outbox struct {
	s    *Scheduler
	node NodeID
	busy Time // what is sent leaves this much later
	exit bool // the process ends with this step
}

// Busy lets what is sent from here on in this step leave so much later: the node was
// at work, for instance on its disk.
func (o *Outbox) Busy(d Time) { o.busy += d }

// Exit ends the node's process with this step, as a crash does: its connections close.
func (o *Outbox) Exit() { o.exit = true }

// Exiting reports whether the process ends with this step.
func (o *Outbox) Exiting() bool { return o.exit }

// Node is the node whose step this is.
func (o *Outbox) Node() NodeID { return o.node }

// Now is the time of the step.
func (o *Outbox) Now() Time { return o.s.now }

// Observer is the observer of the run, for packages that have more to tell than
// the scheduler knows.
func (o *Outbox) Observer() Observer { return o.s.observer }

// Request sends a request to a node over the connection that this node opened
// to it for a purpose, opening it if need be. It returns the number by which the
// answer will refer to it.
func (o *Outbox) Request(to NodeID, purpose Purpose, body any) Seq {
	return o.s.send(Message{
		SentAt: o.s.now + o.busy, From: o.node, To: to, Conn: Conn{Client: o.node, Server: to, Purpose: purpose}, Body: body,
		FromIncarnation: o.s.nodes[o.node].incarnation,
	})
}

// Reply answers a request on the connection on which it came. The answer reaches
// only the incarnation that asked.
func (o *Outbox) Reply(req *Message, body any) Seq {
	return o.s.send(Message{
		SentAt: o.s.now + o.busy, From: o.node, To: req.From, Conn: req.Conn, Answer: true, InReplyTo: req.ID, Body: body,
		FromIncarnation: o.s.nodes[o.node].incarnation, ToIncarnation: req.FromIncarnation,
	})
}

// Push sends what was not asked for from the accepting side of a connection to
// the given incarnation of the node that opened it.
func (o *Outbox) Push(conn Conn, incarnation uint32, body any) Seq {
	return o.s.send(Message{
		SentAt: o.s.now + o.busy, From: o.node, To: conn.Client, Conn: conn, Answer: true, Body: body,
		FromIncarnation: o.s.nodes[o.node].incarnation, ToIncarnation: incarnation,
	})
}

// Close closes a connection from this node's side: what was sent still arrives,
// then the peer sees it closed. Closing what is not open does nothing.
func (o *Outbox) Close(conn Conn) { o.s.closeConn(conn, o.node) }

// SetTimer arms a timer to fire after a while; re-arming replaces.
func (o *Outbox) SetTimer(id TimerID, after Time) { o.s.setTimer(o.node, id, o.s.now+after) }

// StopTimer disarms a timer.
func (o *Outbox) StopTimer(id TimerID) { o.s.setTimer(o.node, id, Never) }

// Draw is keyed randomness for this run; see [Scheduler.Draw].
func (o *Outbox) Draw(purpose DrawPurpose, key, counter uint64) uint64 {
	return o.s.Draw(purpose, key, counter)
}
