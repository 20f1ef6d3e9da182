package client

import (
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// leader answers one reader as the leader of a log that begins at an offset.
type leader struct {
	start, hw protocol.Offset
	asked     []string
}

func (l *leader) Step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	if in.Kind != sim.Deliver {
		return
	}
	switch r := in.Message.Body.(type) {
	case *protocol.MetadataRequest:
		out.Reply(&in.Message, &protocol.MetadataAnswer{Partitions: []protocol.PartitionMetadata{{Leader: 1}}})
	case *protocol.OffsetsRequest:
		a := &protocol.OffsetsAnswer{Offset: l.start, Latest: r.Latest}
		l.asked = append(l.asked, "earliest")
		if r.Latest {
			a.Offset, l.asked[len(l.asked)-1] = l.hw, "latest"
		}
		out.Reply(&in.Message, a)
	case *protocol.Fetch:
		l.asked = append(l.asked, "fetch")
		a := protocol.FetchAnswerPartition{HW: l.hw, LogStart: l.start, Offset: r.Partitions[0].Offset}
		if a.Offset < l.start || a.Offset > l.hw {
			a.Error = protocol.OffsetOutOfRange
		} else {
			a.Records = make([]protocol.Record, l.hw-a.Offset)
		}
		out.Reply(&in.Message, &protocol.FetchAnswer{Partitions: []protocol.FetchAnswerPartition{a}})
	}
}

// TestAReaderBeginsAtTheEarliest: one that was not told where to begin reads everything that
// is still there, whatever auto.offset.reset says; that is for a position that it had.
func TestAReaderBeginsAtTheEarliest(t *testing.T) {
	for _, c := range []struct {
		from           protocol.Offset
		reset          string
		read, position protocol.Offset
		errors         int
	}{
		{protocol.NoOffset, "latest", 3, 8, 0},
		{protocol.NoOffset, "none", 3, 8, 0},
		{0, "latest", 0, 8, 1},
		{0, "earliest", 3, 8, 1},
		{0, "none", 0, 0, 1},
		{6, "latest", 2, 8, 0},
	} {
		rec := trace.NewRecorder()
		s := sim.NewScheduler(1, 0, rec)
		errors := 0
		rec.AddSink(func(e *trace.Event) {
			if e.Kind == trace.ReaderRefused {
				errors++
			}
		})
		settings := protocol.NewSettings(&protocol.Rules{})
		r := NewReader(ReaderOptions{From: c.from, Reset: c.reset}, &protocol.Config{Settings: &settings, Rules: &protocol.Rules{}, Brokers: protocol.BrokersOf(1)})
		l := &leader{start: 5, hw: 8}
		s.Add(1, l)
		s.Add(2, r)
		for range 16 {
			s.Step()
		}
		if int(c.read) != len(r.read) || r.position != c.position || errors != c.errors {
			t.Errorf("from %d, reset %s: read %d, position %d, %d errors; it asked for %v", c.from, c.reset, len(r.read), r.position, errors, l.asked)
		}
	}
}
