package replica

import (
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/storage"
	"tidemark/cluster/trace"
)

// produce appends what a producer sent and answers as its acks ask for.
// Kafka: ReplicaManager.appendRecords, Partition.appendRecordsToLeader.
func (m *Manager) produce(ctx coord.Context, msg *sim.Message, r *protocol.Produce) {
	p := m.partition(r.Partition)
	fail := func(e protocol.Error) {
		if r.Acks == 0 {
			// Nobody is told: the broker closes the connection.
			ctx.Out.Close(msg.Conn)
			return
		}
		m.replyProduce(ctx, msg, r.Partition, e, protocol.NoOffset)
	}
	switch {
	case p == nil:
		fail(protocol.UnknownTopicOrPartition)
		return
	case p.role != trace.RoleLeader:
		fail(protocol.NotLeaderForPartition)
		return
	case r.Acks == protocol.AcksAll && m.config.Rules.MinISRBeforeAppend && p.isr.Len() < m.config.Settings.MinISR(m.topic(p.id)):
		fail(protocol.NotEnoughReplicas)
		return
	}
	if r.Producer != protocol.NoProducerID {
		if done := m.checkSequence(ctx, msg, p, r, fail); done {
			return
		}
	}
	base := p.log.LEO()
	m.appended(ctx, p, p.log.AppendValues(int64(ctx.Now), p.leaderEpoch, r.Values))
	if r.Producer != protocol.NoProducerID {
		p.log.AddBatches([]protocol.Batch{{Producer: r.Producer, Base: base, First: r.Sequence, Last: r.Sequence + protocol.Sequence(len(r.Values)) - 1}})
	}
	moved := m.maybeAdvanceHW(ctx, p)
	required := p.log.LEO()
	switch r.Acks {
	case 0:
	case protocol.AcksAll:
		m.parkProduce(ctx, msg, p, base, required, sim.Time(r.Timeout))
	default:
		m.replyProduce(ctx, msg, p.id, protocol.None, base)
	}
	m.completeFetches(ctx, p.id)
	if moved {
		m.completeProduces(ctx, p.id)
	}
}

// checkSequence answers a batch of an idempotent producer that must not be appended: one
// that is in the log already, as if it had been appended now, or one that is not the next.
// Kafka: Log.analyzeAndValidateProducerState.
func (m *Manager) checkSequence(ctx coord.Context, msg *sim.Message, p *Partition, r *protocol.Produce, fail func(protocol.Error)) bool {
	rule := m.config.Rules.Idempotence
	last := r.Sequence + protocol.Sequence(len(r.Values)) - 1
	verdict, batch := p.log.CheckSequence(r.Producer, r.Sequence, last, rule.Kept())
	switch verdict {
	case storage.Duplicate:
		trace.Emit(ctx.Out, trace.Event{Kind: trace.DuplicateRecognised, Node: m.node(), Peer: msg.From, Partition: p.id, Offset: batch.Base, Values: r.Values})
		m.parkProduce(ctx, msg, p, batch.Base, batch.End(), sim.Time(r.Timeout))
	case storage.UnknownProducer:
		if rule == protocol.IdempotenceLastBatch {
			fail(protocol.OutOfOrderSequenceNumber)
			break
		}
		fail(protocol.UnknownProducerID)
	case storage.OutOfSequence:
		fail(protocol.OutOfOrderSequenceNumber)
	default:
		return false
	}
	return true
}

func (m *Manager) replyProduce(ctx coord.Context, msg *sim.Message, id protocol.Partition, e protocol.Error, base protocol.Offset) {
	a := m.arenas.produceReply.New()
	*a = protocol.ProduceAnswer{Partition: id, Error: e, BaseOffset: base, LogStart: protocol.NoOffset}
	if p := m.partition(id); p != nil {
		a.LogStart = p.log.Start
	}
	ctx.Out.Reply(msg, a)
}

// maybeAdvanceHW raises a leader's HW if the replicas that count allow it.
// Kafka: Partition.maybeIncrementLeaderHW.
func (m *Manager) maybeAdvanceHW(ctx coord.Context, p *Partition) bool {
	hw := p.candidateHW(ctx.Now, m.config)
	if hw <= p.hw {
		return false
	}
	m.setHW(ctx, p, hw)
	return true
}

// fetch handles the fetch of a follower or a consumer.
// Kafka: ReplicaManager.fetchMessages, in the order that the package comment tells.
func (m *Manager) fetch(ctx coord.Context, msg *sim.Message, r *protocol.Fetch) {
	answer := m.read(ctx, msg, r)
	if r.Replica == protocol.Consumer {
		m.replyOrPark(ctx, msg, r, answer)
		return
	}
	var moved, waits []protocol.Partition
	for i := range r.Partitions {
		if answer.Partitions[i].Error != protocol.None {
			continue
		}
		p := m.partition(r.Partitions[i].Partition)
		x := p.remote(r.Replica)
		if x == nil {
			continue
		}
		before := x.leo
		x.fetched(ctx.Now, r.Partitions[i].Offset, p.log.LEO(), m.config)
		if before != x.leo {
			trace.Emit(ctx.Out, trace.Event{Kind: trace.FollowerProgressed, Node: m.node(), Peer: sim.NodeID(r.Replica), Partition: p.id, Offset: x.leo})
		}
		if p.mayExpand(x, m.config) {
			m.writeISR(ctx, p, p.isr.With(r.Replica), true)
			waits = append(waits, p.id)
			continue
		}
		if m.maybeAdvanceHW(ctx, p) {
			moved = append(moved, p.id)
		}
	}
	for _, id := range moved {
		m.completeProduces(ctx, id)
		m.completeFetches(ctx, id)
	}
	if len(waits) > 0 {
		m.expanding = append(m.expanding, expandingFetch{msg: *msg, answer: answer, waits: waits})
		return
	}
	m.replyOrPark(ctx, msg, r, answer)
}

// expandingFetch is a fetch whose follower is joining ISRs; it goes on when
// ZooKeeper has answered for all of them.
type expandingFetch struct {
	msg    sim.Message
	answer *protocol.FetchAnswer
	waits  []protocol.Partition
}

// read reads the log for each partition of a fetch, and takes note of the HW as it is
// now. Kafka: ReplicaManager.readFromLocalLog.
func (m *Manager) read(ctx coord.Context, msg *sim.Message, r *protocol.Fetch) *protocol.FetchAnswer {
	answer := m.arenas.answer.New()
	answer.Partitions = m.arenas.answerParts.Slice(len(r.Partitions))
	for i := range r.Partitions {
		q, a := &r.Partitions[i], &answer.Partitions[i]
		a.Partition, a.Offset, a.HW, a.LogStart = q.Partition, q.Offset, protocol.NoOffset, protocol.NoOffset
		p := m.partition(q.Partition)
		a.Error = m.check(p, q.LeaderEpoch)
		if a.Error != protocol.None {
			continue
		}
		x := p.remote(r.Replica)
		if r.Replica != protocol.Consumer && x == nil {
			continue // not assigned: nothing is read, nothing recorded
		}
		a.HW, a.LogStart = p.hw, p.log.Start
		if q.Offset < p.log.Start || q.Offset > p.log.LEO() {
			a.Error = protocol.OffsetOutOfRange
			continue
		}
		end, limit := p.log.LEO(), int(m.config.Settings.ReplicaFetchMaxRecords)
		if r.Replica == protocol.Consumer {
			end = p.hw // a consumer sees committed records only
			if a.Error = m.readAboveHW(q.Offset, end); a.Error != protocol.None {
				continue
			}
		}
		a.Records = p.log.Read(q.Offset, end, limit)
		if len(p.log.Batches) > 0 && len(a.Records) > 0 {
			batches := p.log.BatchesIn(q.Offset, q.Offset+protocol.Offset(len(a.Records)))
			a.Batches = &batches
		}
	}
	return answer
}

// readAboveHW is the error that a consumer gets at an offset above the HW and inside the
// log, as it may happen after a change of leader. Kafka: LogSegment.read.
func (m *Manager) readAboveHW(offset, hw protocol.Offset) protocol.Error {
	switch {
	case offset <= hw:
	case m.config.Rules.ReadAboveHW == protocol.ReadAboveHWFails:
		return protocol.UnknownServerError
	case m.config.Rules.ReadAboveHW == protocol.ReadAboveHWOutOfRange:
		return protocol.OffsetOutOfRange
	}
	return protocol.None
}

// check is whether this replica may answer for a partition in a leader epoch.
// Kafka: Partition.checkCurrentLeaderEpoch, then the leader check.
func (m *Manager) check(p *Partition, epoch protocol.Epoch) protocol.Error {
	switch {
	case p == nil:
		return protocol.UnknownTopicOrPartition
	case m.config.Rules.FetchFencing && epoch != protocol.NoEpoch && epoch < p.leaderEpoch:
		return protocol.FencedLeaderEpoch
	case m.config.Rules.FetchFencing && epoch != protocol.NoEpoch && epoch > p.leaderEpoch:
		return protocol.UnknownLeaderEpoch
	case p.role != trace.RoleLeader:
		return protocol.NotLeaderForPartition
	}
	return protocol.None
}

// replyOrPark answers a fetch that has something to say, and parks one that has not.
func (m *Manager) replyOrPark(ctx coord.Context, msg *sim.Message, r *protocol.Fetch, answer *protocol.FetchAnswer) {
	now := r.MaxWait <= 0 || len(r.Partitions) == 0
	for i := range answer.Partitions {
		a := &answer.Partitions[i]
		if a.Error != protocol.None {
			now = true
		}
		if len(a.Records) > 0 {
			now = true
		}
	}
	if now || m.hwUnsent(r) {
		m.replyFetch(ctx, msg, r, answer)
		return
	}
	m.parkFetch(ctx, msg, r)
}

// hwUnsent reports whether a follower has not been sent the present HW, where the line
// answers for that. The answer at hand may still carry an older one: then the follower
// asks again at once and gets it. Kafka: ReplicaManager.fetchMessages since KIP-392.
func (m *Manager) hwUnsent(r *protocol.Fetch) bool {
	if m.config.Rules.HWPropagation != protocol.HWAnswers || r.Replica == protocol.Consumer {
		return false
	}
	for i := range r.Partitions {
		if p := m.partition(r.Partitions[i].Partition); p != nil && p.role == trace.RoleLeader {
			if x := p.remote(r.Replica); x != nil && x.sentHW < p.hw {
				return true
			}
		}
	}
	return false
}

// replyFetch answers a fetch and notes which HW a follower was sent.
func (m *Manager) replyFetch(ctx coord.Context, msg *sim.Message, r *protocol.Fetch, answer *protocol.FetchAnswer) {
	for i := range answer.Partitions {
		switch a := &answer.Partitions[i]; a.Error {
		case protocol.FencedLeaderEpoch, protocol.UnknownLeaderEpoch, protocol.NotLeaderForPartition:
			trace.Emit(ctx.Out, trace.Event{Kind: trace.FetchRejected, Node: m.node(), Peer: msg.From, Partition: a.Partition, Error: a.Error})
		}
		if p := m.partition(answer.Partitions[i].Partition); p != nil && answer.Partitions[i].Error == protocol.None {
			if x := p.remote(r.Replica); x != nil {
				x.sentHW = answer.Partitions[i].HW
			}
		}
	}
	ctx.Out.Reply(msg, answer)
}

// endOffsets answers where leader epochs ended. Kafka: Partition.lastOffsetForLeaderEpoch.
func (m *Manager) endOffsets(ctx coord.Context, msg *sim.Message, r *protocol.EpochRequest) {
	a := &protocol.EpochAnswer{Partitions: make([]protocol.EpochAnswerPartition, len(r.Partitions))}
	for i, q := range r.Partitions {
		p := m.partition(q.Partition)
		x := &a.Partitions[i]
		*x = protocol.EpochAnswerPartition{Partition: q.Partition, Error: m.check(p, q.LeaderEpoch), Epoch: protocol.NoEpoch, EndOffset: protocol.NoOffset}
		if x.Error == protocol.None {
			x.Epoch, x.EndOffset = p.log.Epochs.EndOffsetFor(q.Epoch, p.log.LEO())
		}
	}
	ctx.Out.Reply(msg, a)
}

// offsets answers where a log begins or ends. A consumer's end is the HW.
// Kafka: KafkaApis.handleListOffsetRequest; the refusal since KIP-207.
func (m *Manager) offsets(ctx coord.Context, msg *sim.Message, r *protocol.OffsetsRequest) {
	p := m.partition(r.Partition)
	a := &protocol.OffsetsAnswer{Partition: r.Partition, Error: m.check(p, r.LeaderEpoch), Offset: protocol.NoOffset, Latest: r.Latest}
	if a.Error == protocol.None {
		switch {
		case !r.Latest:
			a.Offset = p.log.Start
		case r.Replica != protocol.Consumer:
			a.Offset = p.log.LEO()
		case m.config.Rules.LatestWaitsForEpochStart && p.hw < p.epochStart:
			a.Error = protocol.OffsetNotAvailable
		default:
			a.Offset = p.hw
		}
	}
	ctx.Out.Reply(msg, a)
}
