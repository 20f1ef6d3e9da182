package trace

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Recorder numbers events and passes them on. It is the scheduler's observer, so it
// knows which step an event belongs to and can say what caused it.
type Recorder struct {
	seq     sim.Seq
	cause   sim.Seq // what events are effects of, by default
	now     sim.Time
	hash    uint64 // over all events
	sinks   []func(*Event)
	scratch Event // the event at hand

	// head is the input of the step when it has not been told yet: a timer that
	// nothing comes of is not an event.
	head struct {
		pending bool
		kind    Kind
		node    sim.NodeID
		cause   sim.Seq
	}
}

// NewRecorder makes a recorder.
func NewRecorder() *Recorder { return &Recorder{} }

// Hash is a running hash over all events.
func (r *Recorder) Hash() uint64 { return r.hash }

// AddSink passes every event from now on to f, which must not keep the pointer.
func (r *Recorder) AddSink(f func(*Event)) { r.sinks = append(r.sinks, f) }

// Seq is the number of the latest event.
func (r *Recorder) Seq() sim.Seq { return r.seq }

// Clone is a recorder that goes on numbering from here, without sinks.
func (r *Recorder) Clone() *Recorder {
	c := *r
	c.sinks = nil
	return &c
}

// Begin implements sim.Observer.
func (r *Recorder) Begin(now sim.Time, node sim.NodeID, in *sim.Input) {
	r.now = now
	r.head.pending = false
	switch in.Kind {
	case sim.Deliver:
		r.cause = in.Message.ID
		r.scratch = Event{Kind: MessageDelivered, Node: node, Peer: in.Message.From, Message: in.Message.ID}
		r.cause = r.emit()
	case sim.Disconnected:
		r.cause = in.Cause
		r.scratch = Event{Kind: ConnectionClosed, Node: node, Peer: in.Peer}
		r.cause = r.emit()
	case sim.Fire:
		r.head.pending, r.head.kind, r.head.node, r.head.cause = true, TimerFired, node, in.Cause
	case sim.Start:
		r.head.pending, r.head.kind, r.head.node, r.head.cause = true, ProcessStarted, node, in.Cause
	}
}

// Cause implements sim.Observer.
func (r *Recorder) Cause() sim.Seq {
	if r.head.pending {
		return r.head.cause
	}
	return r.cause
}

// Sent implements sim.Observer.
func (r *Recorder) Sent(m *sim.Message) sim.Seq {
	body, _ := m.Body.(protocol.Body)
	r.tellHead()
	r.scratch = Event{Kind: MessageSent, Node: m.From, Peer: m.To, Message: r.seq + 1, At: m.DeliverAt, Body: body}
	return r.emit()
}

var lossHow = [...]How{sim.LostToCut: ByCut, sim.LostToCrash: ByCrash, sim.LostToOldLife: ByOldLife, sim.LostToDrop: ByDrop}

// Lost implements sim.Observer.
func (r *Recorder) Lost(now sim.Time, m *sim.Message, why sim.LossReason) {
	r.transport(now, Event{Kind: MessageLost, Node: m.To, Peer: m.From, Message: m.ID, How: lossHow[why]})
}

// Held implements sim.Observer.
func (r *Recorder) Held(now sim.Time, m *sim.Message) {
	r.transport(now, Event{Kind: MessageHeld, Node: m.To, Peer: m.From, Message: m.ID})
}

// Released implements sim.Observer.
func (r *Recorder) Released(now sim.Time, m *sim.Message) {
	r.transport(now, Event{Kind: MessageReleased, Node: m.To, Peer: m.From, Message: m.ID, At: m.DeliverAt})
}

// transport tells of what happens to a message outside of a step: its cause is the
// statement at hand if it happens within one, else the sending.
func (r *Recorder) transport(now sim.Time, e Event) {
	cause := r.cause
	if now != r.now || r.head.pending {
		r.now, r.head.pending = now, false
		r.cause = e.Message
	}
	r.scratch = e
	r.emit()
	r.cause = cause
}

// Outside starts something that comes from outside the simulation: a statement.
func (r *Recorder) Outside(now sim.Time, e Event) sim.Seq {
	r.now = now
	r.head.pending = false
	r.cause = 0
	r.scratch = e
	r.cause = r.emit()
	return r.cause
}

// Emit records an event of the present step and returns its number. Number, time
// and cause are filled in.
func (r *Recorder) Emit(e Event) sim.Seq {
	r.tellHead()
	r.scratch = e
	return r.emit()
}

// Because makes an event the cause of what follows in this step, and returns what
// was the cause before.
func (r *Recorder) Because(cause sim.Seq) sim.Seq {
	r.tellHead()
	before := r.cause
	r.cause = cause
	return before
}

func (r *Recorder) tellHead() {
	if !r.head.pending {
		return
	}
	r.head.pending = false
	r.cause = r.head.cause
	r.scratch = Event{Kind: r.head.kind, Node: r.head.node}
	r.cause = r.emit()
}

// emit tells of the event in scratch: one place for all events, so that none of them is
// allocated, and none is copied more often than need be.
func (r *Recorder) emit() sim.Seq {
	e := &r.scratch
	r.seq++
	e.Seq, e.Cause, e.Time = r.seq, r.cause, r.now
	r.hash = sim.Mix(r.hash, uint64(e.Kind)<<56^uint64(e.Node)<<48^uint64(e.Peer)<<40^uint64(e.Partition)<<32^uint64(e.Epoch)<<20^uint64(e.ISR))
	r.hash = sim.Mix(r.hash, uint64(e.Offset)^uint64(e.HW)<<24^uint64(e.Version)<<48)
	r.hash = sim.Mix(r.hash, uint64(e.Cause)^uint64(e.Time)<<20)
	for _, sink := range r.sinks {
		sink(e)
	}
	return r.seq
}

// Emit records an event of the present step of a node.
func Emit(out *sim.Outbox, e Event) sim.Seq { return out.Observer().(*Recorder).Emit(e) }

// Because makes an event the cause of what follows in this step of a node.
func Because(out *sim.Outbox, cause sim.Seq) sim.Seq {
	return out.Observer().(*Recorder).Because(cause)
}
