package search

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// excuses follows a run for why Kafka itself may not come to rest, or may have come to rest
// with logs that differ. Why it breaks a promise about records is the checker's to say.
type excuses struct {
	halts int    // brokers that halted because they were ahead of their leader
	power uint64 // a bit by partition: a log of it lost something with the power
	asks  int    // requests for the end of an epoch since the healing
}

// The excuses.
const (
	excuseHalt          = "a broker that is ahead of its leader halts (until KAFKA-7414)"
	excuseStaleVersion  = "a leader never learned that its ISR write was done, and every further one meets another version (KAFKA-2729, until KIP-497)"
	excuseEmptyEpoch    = "a follower asks for the end of an epoch without records for ever (KAFKA-10706)"
	excuseHighWatermark = "truncation to the high watermark (KIP-101)"
	excuseOneRound      = "truncation by one question for the end of an epoch (KIP-279)"
	excuseUnfenced      = "truncation by epochs that elections do not stamp and fetches do not carry (KAFKA-7415, KIP-320)"
	excusePower         = "a power cut lost what was not on disk"
)

func (x *excuses) observe(e *trace.Event) {
	switch e.Kind {
	case trace.BrokerStopped:
		if e.How == trace.Halted {
			x.halts++
		}
	case trace.MessageSent:
		if _, ok := e.Body.(*protocol.EpochRequest); ok {
			x.asks++
		}
	case trace.LogTailLost:
		x.power |= 1 << e.Partition
	}
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

// ofLogs is why logs may differ at rest. An unclean election loses records, but is no
// reason for that: whoever led then, the others follow.
func (x *excuses) ofLogs(p protocol.Partition, effective, planned protocol.Rules) string {
	if why := truncationExcuse(effective, planned); why != "" {
		return why
	}
	if x.power>>p&1 != 0 {
		return excusePower
	}
	return ""
}

// truncationExcuse is the flaw of the way in which an older line cuts logs. A rule that
// was overridden is no excuse.
func truncationExcuse(effective, planned protocol.Rules) string {
	if effective.Truncation != planned.Truncation || effective.FetchFencing != planned.FetchFencing {
		return ""
	}
	switch effective.Truncation {
	case protocol.TruncateToHighWatermark:
		return excuseHighWatermark
	case protocol.TruncateOneRound:
		return excuseOneRound
	case protocol.TruncateIterative:
		return excuseUnfenced
	}
	return ""
}
