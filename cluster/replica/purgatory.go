package replica

import (
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// delayedFetch is a fetch that waits for something to fetch. Kafka: DelayedFetch.
type delayedFetch struct {
	msg      sim.Message
	deadline sim.Time
}

func (d *delayedFetch) request() *protocol.Fetch { return d.msg.Body.(*protocol.Fetch) }

// delayedProduce is an acks=all request that waits for the HW. Kafka: DelayedProduce.
type delayedProduce struct {
	msg       sim.Message
	partition protocol.Partition
	base      protocol.Offset
	required  protocol.Offset // the HW must reach this
	deadline  sim.Time
}

func (m *Manager) parkFetch(ctx coord.Context, msg *sim.Message, r *protocol.Fetch) {
	m.fetches = append(m.fetches, delayedFetch{*msg, ctx.Now + sim.Time(r.MaxWait)})
	trace.Emit(ctx.Out, trace.Event{Kind: trace.FetchParked, Node: m.node(), Peer: msg.From, Message: msg.ID})
	m.armPurgatory(ctx)
}

func (m *Manager) parkProduce(ctx coord.Context, msg *sim.Message, p *Partition, base, required protocol.Offset, timeout sim.Time) {
	d := delayedProduce{*msg, p.id, base, required, ctx.Now + timeout}
	if e, done := m.produceDone(&d); done {
		m.replyProduce(ctx, msg, p.id, e, base)
		return
	}
	m.produces = append(m.produces, d)
	trace.Emit(ctx.Out, trace.Event{Kind: trace.ProduceParked, Node: m.node(), Peer: msg.From, Partition: p.id, Offset: required, Message: msg.ID})
	m.armPurgatory(ctx)
}

// produceDone is whether a waiting produce request can be answered, and with what.
func (m *Manager) produceDone(d *delayedProduce) (protocol.Error, bool) {
	p := m.partition(d.partition)
	switch {
	case p == nil:
		return protocol.UnknownTopicOrPartition, true
	case p.role != trace.RoleLeader:
		return protocol.NotLeaderForPartition, true
	case p.hw < d.required:
		return protocol.None, false
	case m.config.Rules.MinISRBeforeAnswer && p.isr.Len() < m.config.Settings.MinISR(m.topic(p.id)):
		return protocol.NotEnoughReplicasAfterAppend, true
	}
	return protocol.None, true
}

// completeProduces answers the produce requests of a partition that wait no longer.
func (m *Manager) completeProduces(ctx coord.Context, id protocol.Partition) {
	kept := m.produces[:0]
	for i := range m.produces {
		d := m.produces[i]
		if d.partition == id {
			if e, done := m.produceDone(&d); done {
				m.answerProduce(ctx, &d, e)
				continue
			}
		}
		kept = append(kept, d)
	}
	m.produces = kept
}

func (m *Manager) answerProduce(ctx coord.Context, d *delayedProduce, e protocol.Error) {
	trace.Emit(ctx.Out, trace.Event{Kind: trace.ProduceUnparked, Node: m.node(), Peer: d.msg.From, Message: d.msg.ID})
	m.replyProduce(ctx, &d.msg, d.partition, e, d.base)
}

// completeFetches answers the waiting fetches of a partition that have something to
// fetch now. The log is read again; a follower's position is not recorded again.
func (m *Manager) completeFetches(ctx coord.Context, id protocol.Partition) {
	m.answerFetches(ctx, func(d *delayedFetch) bool { return m.fetchConcerns(d, id) && m.fetchDone(d) })
}

// answerFetches takes the waiting fetches out that are ready, and then answers them.
func (m *Manager) answerFetches(ctx coord.Context, ready func(*delayedFetch) bool) {
	kept := m.fetches[:0]
	var done []delayedFetch
	for i := range m.fetches {
		d := m.fetches[i]
		if ready(&d) {
			done = append(done, d)
		} else {
			kept = append(kept, d)
		}
	}
	m.fetches = kept
	for i := range done {
		m.answerFetch(ctx, &done[i])
	}
}

func (m *Manager) fetchConcerns(d *delayedFetch, id protocol.Partition) bool {
	r := d.request()
	for i := range r.Partitions {
		if r.Partitions[i].Partition == id {
			return true
		}
	}
	return false
}

// fetchDone is whether a waiting fetch can be answered. Kafka: DelayedFetch.tryComplete.
func (m *Manager) fetchDone(d *delayedFetch) bool {
	r := d.request()
	for i := range r.Partitions {
		q := &r.Partitions[i]
		p := m.partition(q.Partition)
		if m.check(p, q.LeaderEpoch) != protocol.None {
			return true
		}
		end := p.log.LEO()
		if r.Replica == protocol.Consumer {
			end = p.hw
		}
		if q.Offset < end || q.Offset > p.log.LEO() || q.Offset < p.log.Start {
			return true
		}
		if r.Replica == protocol.Consumer && m.readAboveHW(q.Offset, end) != protocol.None {
			return true
		}
	}
	return m.hwUnsent(r)
}

func (m *Manager) answerFetch(ctx coord.Context, d *delayedFetch) {
	trace.Emit(ctx.Out, trace.Event{Kind: trace.FetchUnparked, Node: m.node(), Peer: d.msg.From, Message: d.msg.ID})
	r := d.request()
	m.replyFetch(ctx, &d.msg, r, m.read(ctx, &d.msg, r))
}

// armPurgatory sets the one timer of the purgatory to the earliest deadline. It is not
// moved back when a request leaves: then the timer finds nothing to do.
func (m *Manager) armPurgatory(ctx coord.Context) {
	at := sim.Never
	for i := range m.fetches {
		at = min(at, m.fetches[i].deadline)
	}
	for i := range m.produces {
		at = min(at, m.produces[i].deadline)
	}
	if at == sim.Never || m.purgatoryArmed && m.purgatoryAt <= at {
		return
	}
	m.purgatoryArmed, m.purgatoryAt = true, at
	ctx.Out.SetTimer(TimerPurgatory, at-ctx.Now)
}

// renewFetches lets the waiting fetches begin their wait now.
func (m *Manager) renewFetches(ctx coord.Context) {
	for i := range m.fetches {
		m.fetches[i].deadline = ctx.Now + sim.Time(m.fetches[i].request().MaxWait)
	}
	m.armPurgatory(ctx)
}

// expireParked answers what has waited long enough.
func (m *Manager) expireParked(ctx coord.Context) {
	m.purgatoryArmed = false
	keptProduces := m.produces[:0]
	for i := range m.produces {
		d := m.produces[i]
		if d.deadline <= ctx.Now {
			m.answerProduce(ctx, &d, protocol.RequestTimedOut)
		} else {
			keptProduces = append(keptProduces, d)
		}
	}
	m.produces = keptProduces
	m.answerFetches(ctx, func(d *delayedFetch) bool { return d.deadline <= ctx.Now })
	m.armPurgatory(ctx)
}
