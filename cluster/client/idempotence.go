package client

import (
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// identity is what an idempotent producer knows of itself: its producer id and how far
// its sequence numbers got. Kafka: TransactionManager, without transactions.
type identity struct {
	idempotent bool
	id         protocol.ProducerID // NoProducerID while it has none
	asked      sim.Seq             // request for one under way
	askedOf    protocol.Broker     // whom it was asked of last
	pausing    bool                // before asking again
	next       protocol.Sequence   // of the next record that was never sent
	acked      protocol.Sequence   // the last one it was told success of, or NoSequence
	ackedAt    protocol.Offset     // and its offset
	// unresolved: a batch that was sent has been given up without an answer, and nobody
	// knows whether it is stored. Nothing new is sent until what is under way is settled.
	unresolved bool
}

const timerProducerID sim.TimerID = timerStream + 1

func newIdentity(idempotent bool, first protocol.Broker) identity {
	return identity{idempotent: idempotent, id: protocol.NoProducerID, askedOf: first, acked: protocol.NoSequence, ackedAt: protocol.NoOffset}
}

// askID asks a broker for a producer id, unless that is under way or just failed.
// Kafka: Sender.maybeWaitForProducerId, which also asks before there is anything to send.
func (p *Producer) askID(out *sim.Outbox) {
	if !p.idempotent || p.id != protocol.NoProducerID || p.identity.asked != 0 || p.pausing {
		return
	}
	p.askedOf = after(p.askedOf, p.config.Brokers)
	p.identity.asked = out.Request(sim.NodeID(p.askedOf), protocol.ForClients, &protocol.InitProducerID{})
	out.SetTimer(timerProducerID, p.timeout)
}

func (p *Producer) gotID(msg *sim.Message, a *protocol.InitProducerIDAnswer, out *sim.Outbox) {
	if msg.InReplyTo != p.identity.asked {
		return
	}
	p.identity.asked, p.id = 0, a.Producer
	out.StopTimer(timerProducerID)
	trace.Emit(out, trace.Event{Kind: trace.ProducerIDAssigned, Node: out.Node(), Producer: p.id})
}

// fireID: a request for a producer id was not answered, or a pause is over.
func (p *Producer) fireID(out *sim.Outbox) {
	if p.identity.asked != 0 {
		p.lostID(out)
		return
	}
	p.pausing = false
	p.askID(out)
}

// lostID waits retry.backoff.ms before it asks another broker.
func (p *Producer) lostID(out *sim.Outbox) {
	p.identity.asked, p.pausing = 0, true
	out.SetTimer(timerProducerID, sim.Time(p.config.Settings.RetryBackoff))
}

// mayPump reports whether the first batch of the queue may be sent as far as sequence
// numbers go. One that is sent again waits until everything before it has its verdict, so
// that what arrives is in order. Kafka: RecordAccumulator.shouldStopDrainBatchesForPartition.
func (p *Producer) mayPump() bool {
	b := &p.queue[0]
	switch {
	case !p.idempotent:
		return true
	case b.sequence == protocol.NoSequence:
		return p.id != protocol.NoProducerID && !p.unresolved
	}
	return !slices.ContainsFunc(p.sent, func(s sentBatch) bool { return s.producer == b.producer && s.sequence < b.sequence })
}

// stamp gives a batch its sequence numbers when it is sent for the first time. They are
// its own for good. Kafka: ProducerBatch.setProducerState.
func (p *identity) stamp(b *batch) {
	if p.idempotent && b.sequence == protocol.NoSequence {
		b.producer, b.sequence = p.id, p.next
		p.next += protocol.Sequence(len(b.values))
	}
}

// requeue puts a batch back: at the head, or, where it has sequence numbers, in their
// order. Kafka: RecordAccumulator.reenqueue, insertInSequenceOrder.
func (p *Producer) requeue(b batch) {
	i := 0
	for p.idempotent && i < len(p.queue) && p.queue[i].sequence != protocol.NoSequence && p.queue[i].sequence < b.sequence {
		i++
	}
	p.queue = slices.Insert(p.queue, i, b)
}

// stored notes what a producer was told success of.
func (p *identity) stored(b *batch, at protocol.Offset) {
	if n := protocol.Sequence(len(b.values)); p.idempotent && b.producer == p.id && b.sequence+n-1 > p.acked {
		p.acked, p.ackedAt = b.sequence+n-1, at+protocol.Offset(n)-1
	}
}

// retriable reports whether a refused batch may be sent again, and as what error it is
// given up if not. Kafka: Sender.canRetry, TransactionManager.canRetry.
func (p *Producer) retriable(b *batch, e protocol.Error, logStart protocol.Offset) (bool, protocol.Error) {
	switch {
	case !p.idempotent:
		return e.Retriable(), e
	case b.producer != p.id:
		// Its producer id was given up meanwhile: what it was in sequence with is lost.
		return false, protocol.OutOfOrderSequenceNumber
	case e == protocol.OutOfOrderSequenceNumber:
		// Something before it is missing. That may be under way still, unless all of it was stored.
		return p.config.Rules.Idempotence == protocol.IdempotenceFiveBatches && !p.unresolved && b.sequence != p.acked+1, e
	case e == protocol.UnknownProducerID && p.ackedAt < logStart:
		// What it stored was deleted by retention, and its sequence with it: that begins anew
		// (KAFKA-5793).
		p.renumber(b)
		return true, e
	}
	return e.Retriable(), e
}

// renumber lets the sequence begin at 0 with this batch and those that come after it.
// Kafka: TransactionManager.startSequencesAtBeginning.
func (p *Producer) renumber(b *batch) {
	p.next, p.acked, p.ackedAt = 0, protocol.NoSequence, protocol.NoOffset
	open := []*batch{b}
	for i := range p.sent {
		open = append(open, &p.sent[i].batch)
	}
	for i := range p.queue {
		if p.queue[i].sequence != protocol.NoSequence {
			open = append(open, &p.queue[i])
		}
	}
	slices.SortFunc(open, func(a, b *batch) int { return int(a.sequence) - int(b.sequence) })
	for _, x := range open {
		if x.producer == p.id {
			x.sequence = p.next
			p.next += protocol.Sequence(len(x.values))
		}
	}
}

// gaveUp draws the consequences of a batch that was given up after an error.
// Kafka: TransactionManager.handleFailedBatch.
func (p *Producer) gaveUp(b *batch, e protocol.Error, out *sim.Outbox) {
	if b.sequence != protocol.NoSequence && b.producer == p.id && (e == protocol.OutOfOrderSequenceNumber || e == protocol.UnknownProducerID) {
		p.dropID(out)
	}
}

// expired draws them of one that waited too long to be sent again.
// Kafka: TransactionManager.markSequenceUnresolved.
func (p *Producer) expired(b *batch) {
	if b.sequence != protocol.NoSequence && b.producer == p.id {
		p.unresolved = true
	}
}

// resolve settles a doubt once nothing that was sent waits for its verdict: if what was
// stored last is what was sent last, the sequence goes on; else it begins anew under
// another id. Kafka: TransactionManager.shouldResetProducerStateAfterResolvingSequences.
func (p *Producer) resolve(out *sim.Outbox) {
	if !p.unresolved || len(p.sent) > 0 || len(p.queue) > 0 && p.queue[0].sequence != protocol.NoSequence {
		return
	}
	p.unresolved = false
	if p.next != p.acked+1 {
		p.dropID(out)
	}
}

// dropID gives the producer id up: nobody knows what is stored under it.
// Kafka: TransactionManager.resetProducerId.
func (p *Producer) dropID(out *sim.Outbox) {
	trace.Emit(out, trace.Event{Kind: trace.ProducerIDDropped, Node: out.Node(), Producer: p.id})
	p.identity = newIdentity(true, p.askedOf-1) // the one that answered is asked again
}

// hasID is the producer id and sequence number that a batch is sent with.
func (b *batch) hasID() (protocol.ProducerID, protocol.Sequence) {
	if b.sequence == protocol.NoSequence {
		return protocol.NoProducerID, protocol.NoSequence
	}
	return b.producer, b.sequence
}
