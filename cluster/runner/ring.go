package runner

import (
	"slices"

	"tidemark/cluster/sim"
)

// ring keeps the latest events of a run, encoded, in one row. What it hands out is
// never written to again.
type ring struct {
	maxEvents, maxBytes int

	first  sim.Seq // number of events[0], or of the next event when there is none
	events [][]byte
	bytes  int

	block []byte // where encoded events are put, so that each is not an allocation
}

const ringBlock = 16 << 10

func newRing(l *Limits) ring {
	return ring{maxEvents: l.KeptEvents, maxBytes: l.KeptBytes, first: 1}
}

// add appends a copy of an encoded event and drops what is over the limits.
func (r *ring) add(encoded []byte) {
	if cap(r.block)-len(r.block) < len(encoded) {
		r.block = make([]byte, 0, max(ringBlock, len(encoded)))
	}
	start := len(r.block)
	r.block = append(r.block, encoded...)
	r.events = append(r.events, r.block[start:len(r.block):len(r.block)])
	r.bytes += len(encoded)
	for len(r.events) > r.maxEvents || r.bytes > r.maxBytes && len(r.events) > 1 {
		r.bytes -= len(r.events[0])
		r.events[0] = nil
		r.events = r.events[1:]
		r.first++
	}
}

// next is the number that the next event will get.
func (r *ring) next() sim.Seq { return r.first + sim.Seq(len(r.events)) }

// has reports whether a reader that wants the event with this number next can go on
// from here: it is kept, or the next to come.
func (r *ring) has(from sim.Seq) bool { return from >= r.first && from <= r.next() }

// since is the encoded events from a number on, which must be one that it has.
func (r *ring) since(from sim.Seq) [][]byte {
	return slices.Clone(r.events[from-r.first:])
}
