package script

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// note is an event with what could be seen of it only as it happened.
type note struct {
	event trace.Event
	// cutCommitted: a truncation that cut off a record which had been committed.
	cutCommitted bool
	// isr is what a change of a state znode does to the ISR in it.
	isr isrChange
}

// isrChange is a change of an ISR in ZooKeeper.
type isrChange struct {
	partition protocol.Partition // NoPartition: there is none
	leader    protocol.Broker    // who made it; NoBroker: the controller
	was, is   protocol.Brokers
}

// shrank and expanded say which way it went.
func (c isrChange) shrank() bool   { return c.is&^c.was == 0 }
func (c isrChange) expanded() bool { return c.was&^c.is == 0 }

// remembered reports whether an event can matter to seen, never or show events.
func remembered(e *trace.Event) bool {
	switch e.Kind {
	case trace.MessageSent:
		switch e.Body.(type) {
		case *protocol.Fetch, *protocol.Produce, *protocol.EpochRequest, *protocol.MetadataAnswer:
			return true
		}
		return false
	case trace.MessageDelivered, trace.TimerFired, trace.ProcessStarted, trace.WatchFired,
		trace.FetchParked, trace.FetchUnparked, trace.ConnectionClosed, trace.LogFlushed:
		return false
	}
	return true
}

// history is the events so far.
type history struct {
	notes []note
	// base is the number of the event after which seen and never look: that of the
	// start, the last rewind, or the start of a lesson's step.
	base      sim.Seq
	forgotten sim.Seq // number of the last event that was dropped for space
}

func (h *history) add(n note) {
	if len(h.notes) == MaxHistory {
		h.forgotten = h.notes[MaxHistory/2-1].event.Seq
		h.notes = append([]note(nil), h.notes[MaxHistory/2:]...)
	}
	h.notes = append(h.notes, n)
}

// since calls f for every remembered event after the base, until it says stop.
func (h *history) since(f func(n *note) bool) {
	for i := range h.notes {
		if h.notes[i].event.Seq > h.base && !f(&h.notes[i]) {
			return
		}
	}
}

// whole reports whether everything since the base is remembered.
func (h *history) whole() bool { return h.forgotten <= h.base }

// matcher looks for a sequence: what stands with "and" between must be true at the
// same instant, what stands after "then" must come after.
type matcher struct {
	sequence [][]phrase
	stage    int
	// of the present stage: how often each event has matched, and in this step.
	counts []int
	hit    []bool
	found  sim.Seq // number of the event at which the sequence was complete
}

func newMatcher(sequence [][]phrase) *matcher {
	m := &matcher{sequence: sequence}
	m.reset()
	return m
}

func (m *matcher) reset() {
	if m.done() {
		return
	}
	m.counts = make([]int, len(m.sequence[m.stage]))
	m.hit = make([]bool, len(m.sequence[m.stage]))
}

func (m *matcher) done() bool { return m.stage == len(m.sequence) }

// eventsOnly reports whether the sequence can be found in the events alone, without
// the states between.
func (m *matcher) eventsOnly() bool {
	for _, all := range m.sequence {
		if len(all) != 1 || all[0].form.event == nil {
			return false
		}
	}
	return true
}

// see takes an event.
func (m *matcher) see(v *view, n *note) {
	if m.done() {
		return
	}
	all := m.sequence[m.stage]
	for i, ph := range all {
		if ph.form.event == nil || !ph.form.event.match(v, ph.args, n) {
			continue
		}
		m.counts[i]++
		m.hit[i] = m.counts[i] >= ph.form.event.needed(ph.args)
	}
	if len(all) == 1 && m.hit[0] {
		m.advance(n.event.Seq)
	}
}

// step ends a step: conditions are evaluated between steps. What comes "then" comes
// in a later step, or is a later event.
func (m *matcher) step(v *view) {
	if m.done() {
		return
	}
	all := true
	for i, ph := range m.sequence[m.stage] {
		if ph.form.condition != nil {
			m.hit[i] = ph.evaluate(v).truth == yes
		}
		all = all && m.hit[i]
	}
	if all {
		m.advance(v.state.Seq)
	} else {
		clear(m.hit)
	}
}

func (m *matcher) advance(at sim.Seq) {
	m.stage++
	m.found = at
	m.reset()
}
