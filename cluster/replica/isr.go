package replica

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Times of the notification of ISR changes, hard-wired in Kafka since 0.9.
// Kafka: ReplicaManager.maybePropagateIsrChanges.
const (
	isrPropagationTick  = 2500 * sim.Millisecond
	isrChangeQuiet      = 5 * sim.Second
	isrChangeMaxSilence = 60 * sim.Second
)

func (m *Manager) armISRExpiration(ctx coord.Context) {
	period := sim.Time(m.config.Settings.ReplicaLagTimeMax)
	if m.config.Rules.ISRCheckHalfLag {
		period /= 2
	}
	ctx.Out.SetTimer(TimerISRExpiration, period)
}

// expireISRs takes followers that lag too far out of the ISRs that this broker leads.
// Kafka: ReplicaManager.maybeShrinkIsr, Partition.maybeShrinkIsr.
func (m *Manager) expireISRs(ctx coord.Context) {
	for _, p := range m.partitions {
		if p == nil || p.role != trace.RoleLeader || p.update.active {
			continue
		}
		if out := p.outOfSync(ctx.Now, m.config); out != 0 {
			m.writeISR(ctx, p, p.isr&^out, false)
		}
	}
}

// writeISR writes a new ISR to ZooKeeper, on condition that the state znode has the
// version this leader knows. The ISR in memory changes only when it has succeeded.
// Kafka: Partition.updateIsr, ReplicationUtils.updateLeaderAndIsr.
func (m *Manager) writeISR(ctx coord.Context, p *Partition, isr protocol.Brokers, expand bool) {
	m.updates++
	p.update = isrUpdate{active: true, expand: expand, isr: isr, number: m.updates}
	trace.Emit(ctx.Out, trace.Event{Kind: trace.ISRUpdateSent, Node: m.node(), Partition: p.id, ISR: isr})
	ctx.Session.Submit(ctx.Now, coord.Op{
		Kind: coord.SetData, Path: coord.StatePath(m.config.Catalog.Name(p.id)), Data: p.stateData(), Version: p.zkVersion,
	}, coord.Tag{Owner: OwnerReplica, What: tagWriteISR, Partition: p.id, N: p.update.number}, ctx.Out)
	if !ctx.Session.IsConnected() {
		m.tellBlocked(ctx, p)
	}
}

// stateData is what the update writes: leader and epochs as the controller decided them.
func (p *Partition) stateData() string {
	return coord.EncodeState(coord.State{Leader: p.leader, LeaderEpoch: p.leaderEpoch, ControllerEpoch: p.controllerEpoch, ISR: p.update.isr})
}

func (m *Manager) tellBlocked(ctx coord.Context, p *Partition) {
	if !p.update.blocked {
		p.update.blocked = true
		trace.Emit(ctx.Out, trace.Event{Kind: trace.ISRUpdateBlocked, Node: m.node(), Partition: p.id, ISR: p.update.isr})
	}
}

// ZooKeeperLost tells that the connection to ZooKeeper is lost: updates under way wait.
func (m *Manager) ZooKeeperLost(ctx coord.Context) {
	for _, p := range m.partitions {
		if p != nil && p.update.active {
			m.tellBlocked(ctx, p)
		}
	}
}

// SessionExpired tells, where the line does not ask again in the next session, that what
// was submitted will not be answered.
func (m *Manager) SessionExpired(ctx coord.Context) {
	// What waits behind a refused update may write another one: that goes to the next session.
	last := m.updates
	for _, p := range m.partitions {
		if p != nil && p.update.active && p.update.number <= last {
			m.refused(ctx, p)
		}
	}
}

// Answered takes ZooKeeper's answer to an operation of this package.
func (m *Manager) Answered(ctx coord.Context, tag coord.Tag, a *coord.Answer) {
	p := m.partition(tag.Partition)
	if tag.What != tagNotify && (p == nil || !p.update.active || p.update.number != tag.N) {
		return // of an update that was given up meanwhile
	}
	switch tag.What {
	case tagWriteISR:
		switch {
		case a.Err == coord.OK:
			m.updated(ctx, p, a.Stat.Version)
		case a.Err == coord.BadVersion && m.config.Rules.RereadRefusedISRWrite:
			// Perhaps it was this very write, and its answer was lost: read it again
			// (KAFKA-1382).
			ctx.Session.Submit(ctx.Now, coord.Op{Kind: coord.Get, Path: coord.StatePath(m.config.Catalog.Name(p.id))},
				coord.Tag{Owner: OwnerReplica, What: tagReadISR, Partition: p.id, N: p.update.number}, ctx.Out)
		default:
			m.refused(ctx, p)
		}
	case tagReadISR:
		switch {
		case a.Err == coord.OK && a.Data == p.stateData():
			m.updated(ctx, p, a.Stat.Version)
		default:
			m.refused(ctx, p)
		}
	}
}

// updated puts a written ISR into force.
func (m *Manager) updated(ctx coord.Context, p *Partition, version int32) {
	expand := p.update.expand
	p.isr, p.zkVersion, p.update = p.update.isr, version, isrUpdate{}
	kind := trace.ISRShrunk
	if expand {
		kind = trace.ISRExpanded
	}
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: kind, Node: m.node(), Partition: p.id, ISR: p.isr, Version: version}))
	if m.config.Rules.ISRChangeNotification && !slices.Contains(m.changedISRs, p.id) {
		m.changedISRs = append(m.changedISRs, p.id)
	}
	m.changedAt = ctx.Now
	m.unlock(ctx, p)
}

// refused gives an update up: the ISR and the version stay as they were, so that the
// next try fails in the same way until the controller sends a newer state.
func (m *Manager) refused(ctx coord.Context, p *Partition) {
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.ISRUpdateRefused, Node: m.node(), Partition: p.id, ISR: p.update.isr}))
	p.update = isrUpdate{}
	m.unlock(ctx, p)
}

// unlock goes on with what waited for a partition's update: the fetch that caused it,
// what the HW releases, and requests that came meanwhile, in their order.
func (m *Manager) unlock(ctx coord.Context, p *Partition) {
	if p.role == trace.RoleLeader {
		m.maybeAdvanceHW(ctx, p)
	}
	m.completeProduces(ctx, p.id)
	m.completeFetches(ctx, p.id)
	var ready []expandingFetch
	for i := 0; i < len(m.expanding); {
		e := &m.expanding[i]
		e.waits = slices.DeleteFunc(e.waits, func(id protocol.Partition) bool { return id == p.id })
		if len(e.waits) == 0 {
			ready = append(ready, *e)
			m.expanding = slices.Delete(m.expanding, i, i+1)
		} else {
			i++
		}
	}
	for i := range ready {
		m.replyOrPark(ctx, &ready[i].msg, ready[i].msg.Body.(*protocol.Fetch), ready[i].answer)
	}
	waiting := m.locked
	m.locked = nil
	for i := range waiting {
		m.Request(ctx, &waiting[i])
	}
}

// propagateISRChanges lets the controller know of ISR changes, so that the brokers'
// metadata follow. Kafka: ReplicaManager.maybePropagateIsrChanges.
func (m *Manager) propagateISRChanges(ctx coord.Context) {
	if len(m.changedISRs) == 0 || !ctx.Session.IsConnected() {
		return
	}
	if ctx.Now-m.changedAt < isrChangeQuiet && ctx.Now-m.toldAt < isrChangeMaxSilence {
		return
	}
	var names []protocol.TopicPartition
	for _, id := range m.changedISRs {
		names = append(names, m.config.Catalog.Name(id))
	}
	ctx.Session.Submit(ctx.Now, coord.Op{
		Kind: coord.Create, Path: coord.ISRChangePath + "/isr_change_", Data: coord.EncodePartitions(names), Sequential: true,
	}, coord.Tag{Owner: OwnerReplica, What: tagNotify, Partition: protocol.NoPartition}, ctx.Out)
	m.changedISRs, m.toldAt = nil, ctx.Now
}
