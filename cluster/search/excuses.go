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
	paths    []string  // of the partitions' states, by partition
	replicas []replica // that were seen
	written  [][]isrOf // by partition: the ISR in ZooKeeper, the latest of each leader epoch
	unsafe   uint64    // a bit by partition: see unknownMember
	cuts     []cut     // to the high watermark
	diverged uint64    // a bit by partition: a follower went on, or joined the ISR, from another record than its leader's
	earlier  uint64    // a bit by partition: a role of an earlier leader epoch was taken up again
	unclean  uint64    // a bit by partition: a leader was elected from outside the ISR
	halts    int       // brokers that halted because they were ahead of their leader
	power    uint64    // a bit by partition: a log of it lost something with the power
	asks     int       // requests for the end of an epoch since the healing
}

// replica is a log and what its broker believes to be in the partition.
type replica struct {
	node      sim.NodeID
	partition protocol.Partition
	role      trace.Role
	leader    protocol.Broker  // of a follower
	epoch     protocol.Epoch   // in which it leads or follows
	highest   protocol.Epoch   // in any of its broker's lives
	isr       protocol.Brokers // of a leader
	start     protocol.Offset
	records   []protocol.Record
}

// cut is where a follower cut its log, in which leader epoch.
type cut struct {
	partition protocol.Partition
	epoch     protocol.Epoch
	to        protocol.Offset
}

type isrOf struct {
	epoch protocol.Epoch
	isr   protocol.Brokers
}

// The excuses.
const (
	excuseHalt          = "a broker that is ahead of its leader halts (until KAFKA-7414)"
	excuseUnknownMember = "a leader committed without an ISR member: it never learned that its ISR write was done (until KIP-497)"
	excuseStaleVersion  = "a leader never learned that its ISR write was done, and every further one meets another version (KAFKA-2729, until KIP-497)"
	excuseEmptyEpoch    = "a follower asks for the end of an epoch without records for ever (KAFKA-10706)"
	excuseUnclean       = "an unclean election"
	excuseEarlierLife   = "a restarted broker took up a role meant for its earlier life (until KIP-380)"
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
		for i := range x.replicas {
			if r := &x.replicas[i]; r.node == e.Node {
				r.role = trace.RoleNone
			}
		}
	case trace.MessageSent:
		if _, ok := e.Body.(*protocol.EpochRequest); ok {
			x.asks++
		}
	case trace.ZnodeCreated, trace.ZnodeChanged:
		if p := slices.Index(x.paths, e.Path); p >= 0 {
			if s, err := coord.DecodeState(e.Text); err == nil {
				// The controller may die before it says that it elected.
				if n := len(x.written[p]); n > 0 && s.Leader != protocol.NoBroker && !x.written[p][n-1].isr.Has(s.Leader) {
					x.unclean |= 1 << p
				}
				x.written[p] = append(slices.DeleteFunc(x.written[p], func(w isrOf) bool { return w.epoch == s.LeaderEpoch }), isrOf{s.LeaderEpoch, s.ISR})
			}
		}
	case trace.BecameLeader:
		r := x.replica(e)
		r.role, r.isr = trace.RoleLeader, e.ISR
		x.inEpoch(r, e.Epoch)
	case trace.BecameFollower:
		r := x.replica(e)
		r.role, r.leader = trace.RoleFollower, e.Leader
		x.inEpoch(r, e.Epoch)
	case trace.ReplicaStopped:
		x.replica(e).role = trace.RoleNone
	case trace.ISRShrunk, trace.ISRExpanded:
		x.replica(e).isr = e.ISR
		for _, r := range x.replicas {
			if r.partition == e.Partition && r.role == trace.RoleFollower && e.ISR.Has(protocol.Broker(r.node)) && x.apart(&r) {
				x.diverged |= 1 << e.Partition
			}
		}
	case trace.HighWatermarkAdvanced:
		r := x.replica(e)
		if r.role != trace.RoleLeader {
			break
		}
		if x.unknownMember(r) {
			x.unsafe |= 1 << e.Partition
		}
		// A leader of an earlier epoch commits what a follower has cut meanwhile.
		if slices.ContainsFunc(x.cuts, func(c cut) bool { return c.partition == e.Partition && c.epoch > r.epoch && c.to < e.HW }) {
			x.diverged |= 1 << e.Partition
		}
	case trace.LogAppended:
		if r := *x.replica(e); r.role == trace.RoleFollower && x.apart(&r) {
			x.diverged |= 1 << e.Partition
		}
		r := x.replica(e)
		r.records = append(r.records, e.Records...)
	case trace.LogTruncated:
		r := x.replica(e)
		r.cut(e.Offset)
		if e.How == trace.ToHighWatermark {
			x.cuts = append(x.cuts, cut{e.Partition, r.epoch, e.Offset})
		}
	case trace.LogTailLost:
		x.replica(e).cut(e.Offset)
		x.power |= 1 << e.Partition
	case trace.LogRestarted, trace.LogWiped:
		r := x.replica(e)
		r.start, r.records = e.Offset, nil
	}
}

// inEpoch notes the leader epoch of a role. A restarted broker knows none, and takes up
// whatever it is told first.
func (x *excuses) inEpoch(r *replica, epoch protocol.Epoch) {
	if r.epoch = epoch; epoch < r.highest {
		x.earlier |= 1 << r.partition
	}
	r.highest = max(r.highest, epoch)
}

func (x *excuses) replica(e *trace.Event) *replica {
	i := slices.IndexFunc(x.replicas, func(r replica) bool { return r.node == e.Node && r.partition == e.Partition })
	if i < 0 {
		i = len(x.replicas)
		x.replicas = append(x.replicas, replica{node: e.Node, partition: e.Partition})
	}
	return &x.replicas[i]
}

func (r *replica) cut(to protocol.Offset) {
	n := max(to-r.start, 0)
	r.records = r.records[:n:n]
}

// apart reports whether a follower's last record is not the one that its leader has at
// that offset.
func (x *excuses) apart(r *replica) bool {
	last := len(r.records) - 1
	if last < 0 {
		return false
	}
	i := slices.IndexFunc(x.replicas, func(l replica) bool { return l.node == sim.NodeID(r.leader) && l.partition == r.partition })
	if i < 0 {
		return false
	}
	leader := &x.replicas[i]
	at := r.start + protocol.Offset(last) - leader.start
	return at >= 0 && int(at) < len(leader.records) && leader.records[at] != r.records[last]
}

// unknownMember reports whether ZooKeeper's ISR in a leader's epoch has a member that the
// leader does not know of. Whoever is elected from that ISR may lack what it commits.
func (x *excuses) unknownMember(l *replica) bool {
	for _, w := range x.written[l.partition] {
		if w.epoch == l.epoch {
			return w.isr&^l.isr != 0
		}
	}
	return false
}

// ofRecords is why a promise about records may be broken in a partition.
func (x *excuses) ofRecords(p protocol.Partition, effective, planned protocol.Rules) string {
	switch {
	case p < 0:
	case x.unclean>>p&1 != 0:
		return excuseUnclean
	case x.unsafe>>p&1 != 0:
		return excuseUnknownMember
	case x.earlier>>p&1 != 0 && !planned.BounceDetection:
		return excuseEarlierLife
	case x.diverged>>p&1 != 0:
		return truncationExcuse(effective, planned)
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

// ofLogs is why logs may differ at rest. An unclean election loses records, but is no
// reason for that: whoever led then, the others follow.
func (x *excuses) ofLogs(p protocol.Partition, effective, planned protocol.Rules) string {
	if why := truncationExcuse(effective, planned); why != "" {
		return why
	}
	if x.power>>p&1 != 0 {
		return excusePower
	}
	if x.unclean>>p&1 != 0 {
		return ""
	}
	return x.ofRecords(p, effective, planned)
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
