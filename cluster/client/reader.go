package client

import (
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Reader reads one partition from its leader. Kafka: KafkaConsumer, assigned by hand.
type Reader struct {
	locator
	config   *protocol.Config
	reset    string // auto.offset.reset
	manual   bool
	polls    int // polls asked for, when manual
	position protocol.Offset
	// committed is what it has committed last, or NoOffset. Differs: a commit succeeds at
	// once, where Kafka's is a write to the partition of __consumer_offsets that the group's
	// coordinator leads.
	committed protocol.Offset
	asked     sim.Seq // request under way
	to        protocol.Broker
	resets    bool // it needs an offset to go on from
	fresh     bool // it was told to begin at the earliest and has got nothing yet
	stopped   bool // reset none: the application got an exception
	pausing   bool
	read      []trace.ReadRecord
}

// ReaderOptions are what a reader is made with.
type ReaderOptions struct {
	Nth       int // how many clients were made before it
	Partition protocol.Partition
	From      protocol.Offset // NoOffset: the earliest
	Reset     string
	Manual    bool
}

const timerReader sim.TimerID = 20

// NewReader makes a reader.
func NewReader(o ReaderOptions, config *protocol.Config) *Reader {
	return &Reader{locator: newLocator(o.Partition, o.Nth, config), config: config, reset: o.Reset, manual: o.Manual,
		position: max(o.From, 0), fresh: o.From == protocol.NoOffset, committed: protocol.NoOffset}
}

// Commands that a reader takes.
type (
	// Poll makes it fetch once.
	Poll struct{}
	// Seek sets its position.
	Seek struct{ Offset protocol.Offset }
	// Commit commits its position.
	Commit struct{}
)

// Step implements sim.Node.
func (r *Reader) Step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	switch in.Kind {
	case sim.Deliver:
		switch a := in.Message.Body.(type) {
		case *protocol.MetadataAnswer:
			r.locator.answer(&in.Message, a, r.config, out)
		case *protocol.FetchAnswer:
			r.fetched(&in.Message, &a.Partitions[0], out)
		case *protocol.OffsetsAnswer:
			r.found(&in.Message, a, out)
		}
	case sim.Disconnected:
		r.locator.disconnected(in.Peer, r.config, out)
		if r.asked != 0 && r.to == protocol.Broker(in.Peer) {
			r.fail(out)
		}
	case sim.Fire:
		switch in.Timer {
		case timerMetadata:
			r.locator.fire(r.config, 0, out)
		case timerReader:
			r.pausing = false
			if r.asked != 0 {
				r.fail(out) // not answered
			}
		}
	case sim.Tell:
		switch x := in.Command.(type) {
		case Poll:
			r.polls++
		case Seek:
			r.move(x.Offset, trace.BySeek, out)
			r.asked, r.resets, r.stopped, r.fresh = 0, false, false, false
		case Commit:
			r.committed = r.position
			trace.Emit(out, trace.Event{Kind: trace.PositionCommitted, Node: out.Node(), Partition: r.partition, Offset: r.position})
		}
	}
	r.pump(out)
}

// pump sends the next request if there is one to send.
func (r *Reader) pump(out *sim.Outbox) {
	if r.asked != 0 || r.stopped || r.pausing || r.manual && r.polls == 0 {
		return
	}
	if r.leader == protocol.NoBroker {
		r.refresh(r.config, 0, out)
		return
	}
	var body any
	if r.resets {
		body = &protocol.OffsetsRequest{Replica: protocol.Consumer, Partition: r.partition, Latest: r.reset == "latest" && !r.fresh, LeaderEpoch: protocol.NoEpoch}
	} else {
		body = &protocol.Fetch{Replica: protocol.Consumer, MaxWait: r.config.Settings.FetchMaxWait,
			Partitions: []protocol.FetchPartition{{Partition: r.partition, Offset: r.position, LeaderEpoch: protocol.NoEpoch}}}
	}
	r.to = r.leader
	r.asked = out.Request(sim.NodeID(r.leader), protocol.ForClients, body)
	out.SetTimer(timerReader, metadataTimeout)
}

func (r *Reader) fetched(msg *sim.Message, a *protocol.FetchAnswerPartition, out *sim.Outbox) {
	if msg.InReplyTo != r.asked {
		return
	}
	r.asked = 0
	switch {
	case a.Error == protocol.OffsetOutOfRange && r.fresh:
		r.resets = true // the earliest is not 0 any more: where is it?
		return
	case a.Error == protocol.OffsetOutOfRange:
		trace.Emit(out, trace.Event{Kind: trace.ReaderRefused, Node: out.Node(), Partition: r.partition, Error: a.Error})
		r.resets, r.stopped = r.reset != "none", r.reset == "none"
		return
	case a.Error != protocol.None:
		trace.Emit(out, trace.Event{Kind: trace.ReaderRefused, Node: out.Node(), Partition: r.partition, Error: a.Error})
		r.pause(out)
		r.forget(r.config, 0, out)
		return
	}
	r.polls, r.fresh = max(r.polls-1, 0), false
	if len(a.Records) == 0 {
		trace.Emit(out, trace.Event{Kind: trace.ReadNothing, Node: out.Node(), Partition: r.partition})
		return
	}
	trace.Emit(out, trace.Event{Kind: trace.RecordRead, Node: out.Node(), Partition: r.partition, Offset: a.Offset, Records: a.Records})
	for i, x := range a.Records {
		r.read = append(r.read, trace.ReadRecord{Offset: a.Offset + protocol.Offset(i), Value: x.Value})
	}
	r.position = a.Offset + protocol.Offset(len(a.Records))
}

// found takes the offset to go on from. Kafka: Fetcher.resetOffsetIfNeeded.
func (r *Reader) found(msg *sim.Message, a *protocol.OffsetsAnswer, out *sim.Outbox) {
	if msg.InReplyTo != r.asked {
		return
	}
	r.asked = 0
	if a.Error != protocol.None {
		r.pause(out)
		r.forget(r.config, 0, out)
		return
	}
	r.resets = false
	r.move(a.Offset, trace.ByReset, out)
}

func (r *Reader) move(to protocol.Offset, how trace.How, out *sim.Outbox) {
	r.position = to
	trace.Emit(out, trace.Event{Kind: trace.ReaderMoved, Node: out.Node(), Partition: r.partition, Offset: to, How: how})
}

// fail gives the request under way up.
func (r *Reader) fail(out *sim.Outbox) {
	r.asked = 0
	r.locator.failed(r.to)
	r.pause(out)
	r.forget(r.config, 0, out)
}

func (r *Reader) pause(out *sim.Outbox) {
	r.pausing = true
	out.SetTimer(timerReader, sim.Time(r.config.Settings.RetryBackoff))
}

// Clone is an independent copy.
func (r *Reader) Clone(config *protocol.Config) *Reader {
	c := *r
	c.config = config
	c.read = slices.Clip(r.read)
	return &c
}

// Describe adds the reader's visible state to a snapshot.
func (r *Reader) Describe(id sim.NodeID, s *trace.Snapshot) {
	s.Readers = append(s.Readers, trace.ReaderState{Node: id, Partition: r.partition, Manual: r.manual, Position: r.position, Committed: r.committed, Leader: r.learned, Read: r.read})
}
