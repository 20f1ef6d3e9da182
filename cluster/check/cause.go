package check

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// The causes for which Kafka itself promises nothing more about a partition.
const (
	causePower = "a power cut took records that were not on disk (KAFKA-3919)"
	causeWipe  = "a disk was wiped"
	// In all lines: makeLeader forgets the replicas outside the new assignment, which are in
	// the ISR until they are taken out of it.
	causeReassignment = "a leader in the middle of a reassignment counts its new assignment only, while the ISR still has the old one"
	causeUnclean      = "an unclean election: a replica outside the ISR leads (KAFKA-1028)"
)

const (
	causeUnknownMember = "a leader committed without an ISR member: it never learned that its ISR write was done (until KIP-497)"
	causeEarlierLife   = "a restarted broker took up a role meant for its earlier life (until KIP-380)"
)

// bounces reports whether a line tells a broker's lives apart.
func bounces(line protocol.Line) bool {
	r, err := protocol.RulesOf(line)
	return err == nil && r.BounceDetection
}

// ownCause is the public case of a release line that an event makes happen, in a line
// that does not uphold the invariant that it breaks. Stale: whom it happens to follows a
// leader in an epoch that is over.
func ownCause(line protocol.Line, e *trace.Event, stale bool) string {
	switch {
	case e.Kind == trace.LogTruncated && stale && epochs(line):
		return "a follower reconciled its log with a leader whose epoch was over (KIP-320, KAFKA-6880)"
	case e.Kind == trace.LogTruncated && e.How == trace.ToHighWatermark && epochs(line):
		return "the leader did not know the follower's latest epoch, and it cut its log to its high watermark (KAFKA-7415)"
	case e.Kind == trace.LogTruncated && e.How == trace.ToHighWatermark:
		return "a follower cut its log to its high watermark, below what was committed (KIP-101, KAFKA-1211)"
	case e.Kind == trace.LogTruncated && e.How == trace.ToLeaderEnd:
		return "a follower cut its log to the end of a shorter leader's (KAFKA-3410)"
	case e.Kind == trace.ISRExpanded, e.Kind == trace.ZnodeChanged:
		return "a follower joined the ISR before it had reached the start of the leader's epoch (KAFKA-7128)"
	}
	r, _ := protocol.RulesOf(line)
	switch r.Truncation {
	case protocol.TruncateToHighWatermark:
		return "logs that part above the high watermark are not reconciled (KIP-101)"
	case protocol.TruncateOneRound:
		return "one question about the latest epoch does not find where two logs part (KIP-279, KAFKA-6361)"
	}
	return "a follower in an older epoch was counted (KIP-320, KAFKA-6880)"
}

// epochs reports whether followers of a line reconcile by leader epochs.
func epochs(line protocol.Line) bool {
	r, err := protocol.RulesOf(line)
	return err == nil && r.Truncation != protocol.TruncateToHighWatermark
}
