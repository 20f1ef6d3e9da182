package check

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// sequences: a leader appends no record of an idempotent producer twice, and none too early.
func (c *Checker) sequences(e *trace.Event) {
	r := c.state.Replica(e.Node, e.Partition)
	if r.Role != trace.RoleLeader {
		return
	}
	for i, appended := range e.Records {
		x := c.state.Record(appended.Value)
		if x == nil || x.ProducerID == protocol.NoProducerID {
			continue
		}
		want, known := protocol.Sequence(0), r.LogStart == 0
		for at := int(e.Offset-r.LogStart) + i - 1; at >= 0; at-- {
			if before := c.state.Record(r.Records[at].Value); before != nil && before.ProducerID == x.ProducerID {
				want, known = before.Sequence+1, true
				break
			}
		}
		if known && x.Sequence != want {
			c.violated(e, SequencesFollow, e.Partition, "leader %d appends sequence %d of producer id %d where %d comes next", e.Node, x.Sequence, x.ProducerID, want)
		}
	}
}
