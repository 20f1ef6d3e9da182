package client

import (
	"testing"

	"tidemark/cluster/protocol"
)

// idempotent makes a producer with batches of so many records under way and waiting, all
// of them with sequence numbers.
func idempotent(rule protocol.Idempotence, sent, queued []int) *Producer {
	p := &Producer{config: &protocol.Config{Rules: &protocol.Rules{Idempotence: rule}}, identity: newIdentity(true, 1), inflight: 5}
	p.id = 7
	next := func(n int) batch {
		b := batch{values: make([]protocol.Value, n), sequence: protocol.NoSequence}
		p.stamp(&b)
		return b
	}
	for _, n := range sent {
		p.sent = append(p.sent, sentBatch{batch: next(n)})
	}
	for _, n := range queued {
		p.queue = append(p.queue, next(n))
	}
	return p
}

func TestRetriedBatchesKeepTheirOrder(t *testing.T) {
	p := idempotent(protocol.IdempotenceFiveBatches, []int{2, 1, 3, 1}, nil)
	p.queue = append(p.queue, batch{values: make([]protocol.Value, 1), sequence: protocol.NoSequence})
	for _, i := range []int{2, 0, 3, 1} {
		p.requeue(p.sent[i].batch)
	}
	want := []protocol.Sequence{0, 2, 3, 6, protocol.NoSequence}
	for i, b := range p.queue {
		if b.sequence != want[i] {
			t.Errorf("%d. in the queue is sequence %d, want %d", i, b.sequence, want[i])
		}
	}
	// The first may go, the second only when the first has its verdict.
	p.sent = p.sent[:1]
	if p.queue = p.queue[1:]; p.mayPump() {
		t.Error("a retried batch overtakes one that is under way")
	}
	if p.sent = nil; !p.mayPump() {
		t.Error("a retried batch waits for nothing")
	}
}

func TestWhatAnIdempotentProducerTriesAgain(t *testing.T) {
	for _, c := range []struct {
		rule     protocol.Idempotence
		acked    protocol.Sequence
		err      protocol.Error
		logStart protocol.Offset
		again    bool
		as       protocol.Error
	}{
		{protocol.IdempotenceFiveBatches, 3, protocol.NotEnoughReplicas, 0, true, protocol.NotEnoughReplicas},
		{protocol.IdempotenceFiveBatches, 1, protocol.OutOfOrderSequenceNumber, 0, true, protocol.OutOfOrderSequenceNumber},
		{protocol.IdempotenceFiveBatches, 3, protocol.OutOfOrderSequenceNumber, 0, false, protocol.OutOfOrderSequenceNumber},
		{protocol.IdempotenceLastBatch, 1, protocol.OutOfOrderSequenceNumber, 0, false, protocol.OutOfOrderSequenceNumber},
		{protocol.IdempotenceFiveBatches, 3, protocol.UnknownProducerID, 0, false, protocol.UnknownProducerID},
		{protocol.IdempotenceFiveBatches, 3, protocol.UnknownProducerID, 20, true, protocol.UnknownProducerID},
	} {
		p := idempotent(c.rule, []int{1, 1, 1, 1, 2}, []int{1})
		p.acked, p.ackedAt = c.acked, 10
		s := p.sent[4]
		p.sent = nil
		again, as := p.retriable(&s.batch, c.err, c.logStart)
		if again != c.again || as != c.as {
			t.Errorf("%v: again %v as %s", c, again, as)
		}
		if first := s.sequence; c.logStart > 10 && (first != 0 || p.queue[0].sequence != 2 || p.next != 3) {
			t.Errorf("after retention: sequences %d and %d, next %d", first, p.queue[0].sequence, p.next)
		}
	}
	// What was in sequence under an id that was given up is not tried again.
	p := idempotent(protocol.IdempotenceFiveBatches, []int{1}, nil)
	p.id = 8
	if again, as := p.retriable(&p.sent[0].batch, protocol.NotLeaderForPartition, 0); again || as != protocol.OutOfOrderSequenceNumber {
		t.Errorf("under another id: again %v as %s", again, as)
	}
}
