package check

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// ghost is what is known of a partition that no broker has to know.
type ghost struct {
	committed []protocol.Record  // everything that was ever below a leader's HW, from offset 0
	written   [][]written        // by offset: what was ever appended there, one an epoch
	leaders   []protocol.Broker  // by leader epoch; 0: nobody
	isrs      []protocol.Brokers // by version of the state znode
	isr       protocol.Brokers   // in ZooKeeper
	epochISRs []protocol.Brokers // by leader epoch: the latest in ZooKeeper
	epoch     protocol.Epoch     // highest in ZooKeeper
	copies    [protocol.MaxBrokers + 1]replica
	broken    []breach
	cause     string // the first thing that happened after which Kafka promises nothing
	ofLine    bool   // it is the line's own flaw
}

// replica is how much of what was committed a replica's log has.
type replica struct {
	// match is the first offset at which the log has not what was committed there. What is
	// below the log's start counts as being had.
	match protocol.Offset
	// prefixes has, by offset, a hash of the log up to and with the record there.
	prefixes []uint64
	// blind: the log begins after offset 0, so that hashes of its prefixes are not known.
	blind   bool
	highest protocol.Epoch // in which its broker led or followed, in any of its lives
}

// written is a record that was appended somewhere, and what came before it.
type written struct {
	record protocol.Record
	prefix uint64
	blind  bool
}

// breach is an invariant that is broken at the moment, so that it is told once.
type breach struct {
	invariant string
	who, whom sim.NodeID
}

func (g *ghost) copy(n sim.NodeID) *replica { return &g.copies[n] }

// appended follows a log that got records at an offset.
func (g *ghost) appended(n sim.NodeID, offset protocol.Offset, records []protocol.Record) {
	x := g.copy(n)
	for i, r := range records {
		at := offset + protocol.Offset(i)
		if x.match == at && int(at) < len(g.committed) && g.committed[at] == r {
			x.match++
		}
		if x.blind {
			continue
		}
		before := uint64(0)
		if at > 0 {
			before = x.prefixes[at-1]
		}
		x.prefixes = append(x.prefixes[:at], sim.Mix(before, uint64(r.Value)<<32|uint64(uint32(r.Epoch))))
	}
}

// cut follows a log that lost everything from an offset on.
func (g *ghost) cut(n sim.NodeID, offset protocol.Offset) {
	x := g.copy(n)
	x.match = min(x.match, offset)
	if !x.blind {
		x.prefixes = x.prefixes[:min(int(offset), len(x.prefixes))]
	}
}

// began follows a log that begins anew at an offset.
func (g *ghost) began(n sim.NodeID, offset protocol.Offset) {
	*g.copy(n) = replica{match: offset, blind: offset > 0, highest: g.copy(n).highest}
}

// commit notes that a record is committed at the next offset, and which logs have it.
func (g *ghost) commit(r protocol.Record) {
	g.committed = append(g.committed, r)
}

// catchUp lets the match of a replica grow as far as its log agrees.
func (g *ghost) catchUp(r *trace.ReplicaState) {
	x := g.copy(r.Broker)
	x.match = max(x.match, r.LogStart)
	for int(x.match) < len(g.committed) && x.match < r.LEO() && r.Records[x.match-r.LogStart] == g.committed[x.match] {
		x.match++
	}
}

// lacks reports whether a replica lacks something below an offset that was committed.
func (g *ghost) lacks(n sim.NodeID, below protocol.Offset) bool {
	return g.copy(n).match < min(below, protocol.Offset(len(g.committed)))
}
