package search

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// excuses follows a run for what makes Kafka itself break a promise and what the checker,
// which judges by the fate of records, does not look for.
type excuses struct {
	paths   []string  // of the partitions' states, by partition
	leaders []leading // replicas that lead, as they believe
	written [][]isrOf // by partition: the ISR in ZooKeeper, the latest of each leader epoch
	unsafe  uint64    // a bit by partition: see unknownMember
	halts   int       // brokers that halted because they were ahead of their leader
	power   uint64    // a bit by partition: a log of it lost something with the power
	asks    int       // requests for the end of an epoch since the healing
}

type leading struct {
	node      sim.NodeID
	partition protocol.Partition
	epoch     protocol.Epoch
	isr       protocol.Brokers
}

type isrOf struct {
	epoch protocol.Epoch
	isr   protocol.Brokers
}

// The excuses.
const (
	excuseHalt          = "a broker that is ahead of its leader halts (until KAFKA-7414)"
	excuseUnknownMember = "a leader committed without an ISR member: it never learned that its ISR write was done (until KIP-497)"
	excuseEmptyEpoch    = "a follower asks for the end of an epoch without records for ever (KAFKA-10706)"
	excuseHighWatermark = "truncation to the high watermark (KIP-101)"
	excuseOneRound      = "truncation by one question for the end of an epoch (KIP-279)"
	excuseUnfenced      = "fetches without a leader epoch (KIP-320)"
	excusePower         = "a power cut lost what was not on disk"
)

func (x *excuses) observe(e *trace.Event) {
	switch e.Kind {
	case trace.BrokerStopped:
		if e.How == trace.Halted {
			x.halts++
		}
		x.leaders = slices.DeleteFunc(x.leaders, func(l leading) bool { return l.node == e.Node })
	case trace.LogTailLost:
		x.power |= 1 << e.Partition
	case trace.MessageSent:
		if _, ok := e.Body.(*protocol.EpochRequest); ok {
			x.asks++
		}
	case trace.ZnodeCreated, trace.ZnodeChanged:
		if p := slices.Index(x.paths, e.Path); p >= 0 {
			if s, err := coord.DecodeState(e.Text); err == nil {
				x.written[p] = append(slices.DeleteFunc(x.written[p], func(w isrOf) bool { return w.epoch == s.LeaderEpoch }), isrOf{s.LeaderEpoch, s.ISR})
			}
		}
	case trace.BecameLeader, trace.BecameFollower, trace.ReplicaStopped:
		x.leaders = slices.DeleteFunc(x.leaders, func(l leading) bool { return l.node == e.Node && l.partition == e.Partition })
		if e.Kind == trace.BecameLeader {
			x.leaders = append(x.leaders, leading{e.Node, e.Partition, e.Epoch, e.ISR})
		}
	case trace.ISRShrunk, trace.ISRExpanded:
		if l := x.leader(e); l != nil {
			l.isr = e.ISR
		}
	case trace.HighWatermarkAdvanced:
		if l := x.leader(e); l != nil && x.unknownMember(l) {
			x.unsafe |= 1 << e.Partition
		}
	}
}

func (x *excuses) leader(e *trace.Event) *leading {
	i := slices.IndexFunc(x.leaders, func(l leading) bool { return l.node == e.Node && l.partition == e.Partition })
	if i < 0 {
		return nil
	}
	return &x.leaders[i]
}

// unknownMember reports whether ZooKeeper's ISR in a leader's epoch has a member that the
// leader does not know of. Whoever is elected from that ISR may lack what it commits.
func (x *excuses) unknownMember(l *leading) bool {
	for _, w := range x.written[l.partition] {
		if w.epoch == l.epoch {
			return w.isr&^l.isr != 0
		}
	}
	return false
}

// ofRecords is why a promise about records may be broken in a partition.
func (x *excuses) ofRecords(p protocol.Partition) string {
	if p >= 0 && x.unsafe>>p&1 != 0 {
		return excuseUnknownMember
	}
	return ""
}

// ofRest is why a cluster may never come to rest. Many is more questions than a follower
// has between two answers that help it.
func (x *excuses) ofRest(planned protocol.Rules) string {
	const many = 300
	switch {
	case x.halts > 0:
		return excuseHalt
	case x.asks > many && planned.StampEpochAtElection && planned.Truncation >= protocol.TruncateIterative:
		return excuseEmptyEpoch
	}
	return ""
}

// ofLogs is why logs may differ: in the older lines, by the way in which they cut logs. A
// rule that was overridden is no excuse.
func (x *excuses) ofLogs(p protocol.Partition, effective, planned protocol.Rules) string {
	switch {
	case effective.Truncation != planned.Truncation || effective.FetchFencing != planned.FetchFencing:
	case effective.Truncation == protocol.TruncateToHighWatermark:
		return excuseHighWatermark
	case effective.Truncation == protocol.TruncateOneRound:
		return excuseOneRound
	case effective.Truncation == protocol.TruncateIterative:
		return excuseUnfenced
	case x.power>>p&1 != 0:
		return excusePower
	}
	return x.ofRecords(p)
}
