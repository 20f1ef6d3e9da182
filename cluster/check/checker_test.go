package check

import (
	"slices"
	"strings"
	"testing"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// tale is events told to a checker by hand: of one partition on brokers 1, 2 and 3.
type tale struct {
	*Checker
	seq     sim.Seq
	version int32
}

var tp = protocol.TopicPartition{Topic: "t"}

// begin is a partition led by broker 1 in epoch 0 with everybody in the ISR.
func begin(line string) *tale {
	t := &tale{Checker: New(nil), version: -1}
	t.event(trace.Event{Kind: trace.StatementExecuted, Text: "kafka " + line})
	for b := range sim.NodeID(3) {
		t.event(trace.Event{Kind: trace.BrokerAdded, Node: b + 1})
	}
	t.event(trace.Event{Kind: trace.PartitionAdded, Path: "t", Replicas: protocol.ReplicasOf(1, 2, 3)})
	t.event(trace.Event{Kind: trace.ProducerAdded, Node: 10, Acks: protocol.AcksAll})
	t.event(trace.Event{Kind: trace.ReaderAdded, Node: 11})
	t.state(1, 0, 1, 2, 3)
	for b := range sim.NodeID(3) {
		t.event(trace.Event{Kind: trace.LogCreated, Node: b + 1})
	}
	t.lead(1, 0, 1, 2, 3)
	t.follow(2, 1, 0)
	t.follow(3, 1, 0)
	return t
}

func (t *tale) event(e trace.Event) {
	t.seq++
	e.Seq = t.seq
	t.Observe(&e)
}

func (t *tale) state(leader protocol.Broker, epoch protocol.Epoch, isr ...protocol.Broker) {
	t.version++
	kind := trace.ZnodeChanged
	if t.version == 0 {
		kind = trace.ZnodeCreated
	}
	s := coord.State{Leader: leader, LeaderEpoch: epoch, ISR: protocol.BrokersOf(isr...)}
	t.event(trace.Event{Kind: kind, Path: coord.StatePath(tp), Text: coord.EncodeState(s), Version: t.version})
}

func (t *tale) lead(b sim.NodeID, epoch protocol.Epoch, isr ...protocol.Broker) {
	t.event(trace.Event{Kind: trace.BecameLeader, Node: b, Epoch: epoch, ISR: protocol.BrokersOf(isr...), Version: t.version})
}

func (t *tale) follow(b sim.NodeID, leader protocol.Broker, epoch protocol.Epoch) {
	t.event(trace.Event{Kind: trace.BecameFollower, Node: b, Leader: leader, Epoch: epoch})
}

func (t *tale) log(b sim.NodeID, offset protocol.Offset, epoch protocol.Epoch, values ...protocol.Value) {
	e := trace.Event{Kind: trace.LogAppended, Node: b, Offset: offset}
	for _, v := range values {
		e.Records = append(e.Records, protocol.Record{Value: v, Epoch: epoch})
	}
	t.event(e)
}

func (t *tale) hw(b sim.NodeID, hw protocol.Offset) {
	t.event(trace.Event{Kind: trace.HighWatermarkAdvanced, Node: b, HW: hw})
}

// commit appends a value everywhere and commits it.
func (t *tale) commit(offset protocol.Offset, v protocol.Value) {
	for b := range sim.NodeID(3) {
		t.log(b+1, offset, 0, v)
	}
	t.hw(1, offset+1)
}

// TestEveryInvariantCanBeViolated: for each invariant a tale that breaks it first or
// alone, in a line that upholds it; the same without the last step breaks nothing.
func TestEveryInvariantCanBeViolated(t *testing.T) {
	for name, x := range map[string]struct {
		before, last func(t *tale)
	}{
		HWWithinLog: {func(*tale) {}, func(t *tale) { t.hw(2, 1) }},
		HWRises:     {func(t *tale) { t.commit(0, 0) }, func(t *tale) { t.event(trace.Event{Kind: trace.HighWatermarkLowered, Node: 1}) }},
		LeaderInISR: {func(*tale) {}, func(t *tale) { t.state(1, 1, 2, 3) }},
		OneLeaderPerEpoch: {func(t *tale) { t.state(2, 1, 1, 2, 3); t.lead(2, 1, 1, 2, 3) },
			func(t *tale) { t.lead(3, 1, 1, 2, 3) }},
		EpochsRise:         {func(t *tale) { t.state(1, 4, 1, 2, 3) }, func(t *tale) { t.state(1, 3, 1, 2, 3) }},
		ISRAgrees:          {func(t *tale) { t.state(1, 0, 1, 2) }, func(t *tale) { t.lead(1, 0, 1, 2, 3) }},
		SameEpochSameValue: {func(t *tale) { t.log(1, 0, 0, 7) }, func(t *tale) { t.log(2, 0, 0, 8) }},
		SameTailSamePrefix: {func(t *tale) { t.log(1, 0, 0, 1); t.log(2, 0, 1, 2); t.log(1, 1, 3, 3) }, func(t *tale) { t.log(2, 1, 3, 3) }},
		LogEpochsRise:      {func(t *tale) { t.log(1, 0, 3, 1) }, func(t *tale) { t.log(1, 1, 2, 2) }},
		CommittedAgrees: {func(t *tale) {
			t.commit(0, 0)
			t.state(2, 1, 2, 3)
			t.event(trace.Event{Kind: trace.LogTruncated, Node: 2, How: trace.ToEpochEnd})
			t.lead(2, 1, 2, 3)
			t.log(2, 0, 1, 9)
			t.Violations = nil
		}, func(t *tale) { t.hw(2, 1) }},
		CommittedStays: {func(t *tale) { t.commit(0, 0) }, func(t *tale) { t.event(trace.Event{Kind: trace.LogTruncated, Node: 3, How: trace.ToEpochEnd}) }},
		LogMatching: {func(t *tale) {
			t.state(1, 1, 1, 2)
			t.lead(1, 1, 1, 2)
			t.commit(0, 0)
			t.log(3, 1, 1, 9)
			t.log(1, 1, 0, 5)
			t.log(2, 1, 0, 5)
			t.hw(1, 2)
		}, func(t *tale) { t.hw(3, 2) }},
		WeakISR:   {func(t *tale) { t.log(1, 0, 0, 1); t.log(2, 0, 0, 1) }, func(t *tale) { t.hw(1, 1) }},
		StrongISR: {func(t *tale) { t.log(1, 0, 0, 1) }, func(t *tale) { t.hw(1, 1) }},
		LeaderComplete: {func(t *tale) {
			t.log(1, 0, 0, 1)
			t.log(2, 0, 0, 1)
			t.hw(1, 1)
			t.state(3, 1, 3)
			t.Violations = nil // the ISR itself is wrong already
		}, func(t *tale) { t.lead(3, 1, 3) }},
		AckedAllCommitted: {func(t *tale) {
			t.log(1, 0, 0, 0)
			t.event(trace.Event{Kind: trace.RecordQueued, Node: 10, Values: []protocol.Value{0}})
			t.event(trace.Event{Kind: trace.RecordSent, Node: 10, Values: []protocol.Value{0}})
		}, func(t *tale) { t.event(trace.Event{Kind: trace.RecordAcked, Node: 10, Values: []protocol.Value{0}}) }},
		SequencesFollow: {func(t *tale) {
			for v := range protocol.Value(2) {
				t.event(trace.Event{Kind: trace.RecordQueued, Node: 10, Values: []protocol.Value{v}})
				t.event(trace.Event{Kind: trace.RecordSent, Node: 10, Values: []protocol.Value{v}, Producer: 7, Sequence: 2 * protocol.Sequence(v)})
			}
			t.log(1, 0, 0, 0)
		}, func(t *tale) { t.log(1, 1, 0, 1) }},
		ReadIsCommitted: {func(t *tale) { t.log(1, 0, 0, 0) }, func(t *tale) {
			t.event(trace.Event{Kind: trace.RecordRead, Node: 11, Records: []protocol.Record{{}}})
		}},
		AckedKept: {func(t *tale) {
			t.event(trace.Event{Kind: trace.RecordQueued, Node: 10, Values: []protocol.Value{0}})
			t.commit(0, 0)
			t.event(trace.Event{Kind: trace.RecordAcked, Node: 10, Values: []protocol.Value{0}})
			t.state(3, 1, 3)
			t.event(trace.Event{Kind: trace.LogTruncated, Node: 3, How: trace.ToEpochEnd})
			t.lead(3, 1, 3)
			t.Violations = nil
		}, func(t *tale) { t.Audit() }},
	} {
		u := begin("2.4")
		x.before(u)
		if len(u.Violations) > 0 {
			t.Errorf("%s: already before: %+v", name, u.Violations)
			continue
		}
		x.last(u)
		if !slices.ContainsFunc(u.Unexcused(), func(v Violation) bool { return v.Invariant == name }) {
			t.Errorf("%s is not found: %+v", name, u.Violations)
		}
	}
	if n := len(Invariants); n != 19 {
		t.Errorf("%d invariants; give the new one a tale", n)
	}
}

// TestKafkasOwnViolations: the line and the event decide whether a violation is Kafka's
// own, and which case explains it.
func TestKafkasOwnViolations(t *testing.T) {
	cut := func(how trace.How) func(*tale) {
		return func(t *tale) { t.event(trace.Event{Kind: trace.LogTruncated, Node: 3, How: how}) }
	}
	for _, x := range []struct {
		line   string
		breaks func(*tale)
		cause  string
	}{
		{"0.10", cut(trace.ToHighWatermark), "KIP-101"},
		{"0.11", cut(trace.ToHighWatermark), "KAFKA-7415"},
		{"0.11", cut(trace.ToEpochEnd), "KIP-279"},
		{"2.0", cut(trace.ToEpochEnd), "KIP-320"},
		{"2.1", cut(trace.ToEpochEnd), ""},
		{"2.4", cut(trace.ToHighWatermark), ""},
		{"2.4", func(t *tale) { t.event(trace.Event{Kind: trace.LogTailLost, Node: 3}) }, "a power cut"},
		{"2.4", func(t *tale) { t.event(trace.Event{Kind: trace.LogWiped, Node: 3}) }, "a disk"},
		{"2.4", func(t *tale) {
			t.state(1, 0, 1)
			t.log(1, 1, 0, 1)
			t.event(trace.Event{Kind: trace.ISRShrunk, Node: 1, ISR: protocol.BrokersOf(1), Version: t.version})
			t.hw(1, 2)
			t.state(2, 1, 2)
		}, "an unclean election"},
	} {
		u := begin(x.line)
		u.commit(0, 0)
		x.breaks(u)
		if len(u.Violations) == 0 {
			t.Errorf("%s, %s: nothing is violated", x.line, x.cause)
		}
		for _, v := range u.Violations {
			if (v.Excuse == "") != (x.cause == "") || !strings.Contains(v.Excuse, x.cause) {
				t.Errorf("%s: %s is put down to %q, want %q", x.line, v.Invariant, v.Excuse, x.cause)
			}
		}
	}
}

// TestAudit: what producers were told against what is there.
func TestAudit(t *testing.T) {
	u := begin("2.4")
	queue := func(v protocol.Value) {
		u.event(trace.Event{Kind: trace.RecordQueued, Node: 10, Values: []protocol.Value{v}})
	}
	ack := func(v protocol.Value, at protocol.Offset) {
		u.event(trace.Event{Kind: trace.RecordAcked, Node: 10, Offset: at, Values: []protocol.Value{v}})
	}
	for v := range protocol.Value(4) {
		queue(v)
	}
	u.commit(0, 0)
	ack(0, 0)
	u.event(trace.Event{Kind: trace.ProducerChanged, Node: 10, Acks: 1})
	u.log(1, 1, 0, 1) // acked, on broker 1 only
	ack(1, 1)
	u.log(1, 2, 0, 2)
	u.state(2, 1, 2, 3)
	u.lead(2, 1, 2, 3)
	u.log(2, 1, 1, 3)
	var have []string
	for _, x := range u.Audit() {
		have = append(have, x.Verdict.String())
	}
	if want := []string{"kept", "lost", "unknown-lost", "unknown-kept"}; !slices.Equal(have, want) {
		t.Errorf("have %v, want %v", have, want)
	}
	if len(u.Violations) > 0 {
		t.Errorf("acks=1 may lose: %+v", u.Violations)
	}
	u.state(-1, 2, 2)
	if x := u.Audit()[0]; x.Verdict != Undecided {
		t.Errorf("without a leader: %s", x.Verdict)
	}
}
