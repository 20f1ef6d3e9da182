package check

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Verdict is what became of a record in the end.
type Verdict uint8

// The verdicts. Told means that the producer was told success, or with acks=0 assumed it.
const (
	Kept        Verdict = iota // told, and there
	Lost                       // told, and gone
	UnknownKept                // not told success, and there all the same
	UnknownLost                // not told success, and not there
	Undecided                  // its partition has no acting leader, so that nobody can say
)

var verdicts = [...]string{"kept", "lost", "unknown-kept", "unknown-lost", "undecided"}

func (v Verdict) String() string { return verdicts[v] }

// Entry is one record of an audit.
type Entry struct {
	Value     protocol.Value
	Producer  sim.NodeID
	Partition protocol.Partition
	Verdict   Verdict
	Committed bool   // it was committed at some time
	Cause     string // of a loss: why Kafka itself allows it; empty: a bug
}

// causeAcks is the loss that acks=0 and 1 are for: success before the record was committed.
const causeAcks = "the producer was told success before the record was committed (acks=0 or 1)"

// Audit holds what producers were told against the logs of the acting leaders, at the
// end of a run. An acknowledged record that was committed and is lost is a violation of
// [AckedKept].
func (c *Checker) Audit() []Entry {
	ever := make([]bool, c.values())
	for p := range c.partitions {
		for _, r := range c.partitions[p].committed {
			ever[r.Value] = true
		}
	}
	entries := make([]Entry, 0, len(c.state.Records))
	for i := range c.state.Records {
		r := &c.state.Records[i]
		x := Entry{Value: r.Value, Producer: r.Producer, Partition: r.Partition, Committed: ever[r.Value]}
		told := r.Fate == trace.Acked || r.Fate == trace.Assumed
		switch leader := c.acting(r.Partition); {
		case leader == nil:
			x.Verdict = Undecided
		case x.Committed && r.Fate == trace.Acked && r.Offset < leader.LogStart:
			x.Verdict = Kept // and trimmed since, with everything that old
		case slices.ContainsFunc(leader.Records, func(y protocol.Record) bool { return y.Value == r.Value }):
			if x.Verdict = UnknownKept; told {
				x.Verdict = Kept
			}
		case told:
			x.Verdict = Lost
			if x.Cause = causeAcks; x.Committed {
				x.Cause = c.lost(r)
			}
		default:
			x.Verdict = UnknownLost
		}
		entries = append(entries, x)
	}
	return entries
}

// lost is why a committed record may be lost, in a violation if it may not.
func (c *Checker) lost(r *trace.RecordState) string {
	e := trace.Event{Seq: c.state.Seq, Time: c.state.Time, Partition: r.Partition}
	c.violated(&e, AckedKept, r.Partition, "a committed record that was acknowledged at offset %d is not in the acting leader's log", r.Offset)
	return c.Violations[len(c.Violations)-1].Excuse
}

// values is how many different values there are.
func (c *Checker) values() int {
	n := 0
	for i := range c.state.Records {
		n = max(n, int(c.state.Records[i].Value)+1)
	}
	for p := range c.partitions {
		for _, r := range c.partitions[p].committed {
			n = max(n, int(r.Value)+1)
		}
	}
	return n
}

// acting is the replica of the broker that ZooKeeper names, if it is up and acts as
// leader in that epoch.
func (c *Checker) acting(p protocol.Partition) *trace.ReplicaState {
	z := c.state.Znode(coord.StatePath(c.state.Partitions[p].Name))
	if z == nil {
		return nil
	}
	s, err := coord.DecodeState(z.Data)
	if err != nil || s.Leader == protocol.NoBroker {
		return nil
	}
	b, r := c.state.Broker(sim.NodeID(s.Leader)), c.state.Replica(sim.NodeID(s.Leader), p)
	if b == nil || b.State != trace.ProcessUp || r == nil || r.Role != trace.RoleLeader || r.LeaderEpoch != s.LeaderEpoch {
		return nil
	}
	return r
}
