package sim

import "testing"

// quiet is an observer that numbers messages and tells nobody.
type quiet struct{ seq Seq }

func (q *quiet) Cause() Seq                      { return 0 }
func (q *quiet) Begin(Time, NodeID, *Input)      {}
func (q *quiet) Sent(*Message) Seq               { q.seq++; return q.seq }
func (q *quiet) Lost(Time, *Message, LossReason) {}
func (q *quiet) Held(Time, *Message)             {}
func (q *quiet) Released(Time, *Message)         {}

// sender sends a request for each of two purposes every millisecond.
type sender struct{ n int }

func (s *sender) Step(_ Time, in *Input, out *Outbox) {
	if in.Kind != Start && in.Kind != Fire {
		return
	}
	for purpose := range Purpose(2) {
		s.n++
		out.Request(1, purpose+1, s.n)
	}
	out.SetTimer(1, Millisecond)
}

// receiver counts what overtook what.
type receiver struct {
	arrived        int
	latest         [3]int // by purpose
	last           int
	overtook       int // a message that was sent before one that has arrived, on another connection
	overtookWithin int // the same on one connection
}

func (r *receiver) Step(_ Time, in *Input, _ *Outbox) {
	if in.Kind != Deliver {
		return
	}
	n := in.Message.Body.(int)
	r.arrived++
	if n < r.last {
		r.overtook++
	}
	if n < r.latest[in.Message.Conn.Purpose] {
		r.overtookWithin++
	}
	r.last, r.latest[in.Message.Conn.Purpose] = max(r.last, n), max(r.latest[in.Message.Conn.Purpose], n)
}

// TestOnlyConnectionsKeepOrder: what is sent on one connection arrives in order, and what
// is sent on another may overtake it. A network with one order for a pair of nodes would
// be kinder than TCP and hide failures; it exists to be switched on by name only.
func TestOnlyConnectionsKeepOrder(t *testing.T) {
	for _, shared := range []bool{false, true} {
		s := NewScheduler(1, 0, new(quiet))
		s.SetLatency(5*Millisecond, 20*Millisecond)
		if shared {
			s.ShareConnections()
		}
		r := new(receiver)
		s.Add(1, r)
		s.Add(0, new(sender))
		for s.now < Second {
			s.Step()
		}
		if r.arrived < 1000 || r.overtookWithin > 0 {
			t.Errorf("shared %t: %d arrived, %d out of order on their connection", shared, r.arrived, r.overtookWithin)
		}
		if (r.overtook == 0) != shared {
			t.Errorf("shared %t: %d of %d overtaken by another connection's", shared, r.overtook, r.arrived)
		}
	}
}
