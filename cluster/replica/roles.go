package replica

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// LeaderAndISR takes the controller's decisions. The caller has checked the
// controller's epoch and that no partition is locked. Live is who is alive, as far
// as this broker knows. Kafka: ReplicaManager.becomeLeaderOrFollower.
func (m *Manager) LeaderAndISR(ctx coord.Context, r *protocol.LeaderAndISR, live protocol.Brokers) {
	var followers []*protocol.PartitionState
	for i := range r.Partitions {
		s := &r.Partitions[i]
		p := m.partition(s.Partition)
		if p != nil && s.LeaderEpoch <= p.leaderEpoch || !s.Replicas.Has(m.id) {
			continue
		}
		if s.Leader == m.id {
			m.makeLeader(ctx, s)
		} else {
			followers = append(followers, s)
		}
	}
	for _, s := range followers {
		m.makeFollower(ctx, s, live)
	}
	if !m.tasks {
		m.StartTasks(ctx)
	}
	m.pumpFetchers(ctx)
}

// ensure finds the replica of a partition, making its log when it has none.
func (m *Manager) ensure(ctx coord.Context, id protocol.Partition) *Partition {
	if p := m.partition(id); p != nil {
		return p
	}
	trace.Emit(ctx.Out, trace.Event{Kind: trace.LogCreated, Node: m.node(), Partition: id})
	return m.host(m.disk.Create(id))
}

// adopt caches what a decision says. It puts an end to an ISR update under way, whose
// answer will then find nothing.
func (p *Partition) adopt(s *protocol.PartitionState) {
	p.controllerEpoch, p.leaderEpoch, p.zkVersion, p.replicas = s.ControllerEpoch, s.LeaderEpoch, s.ZkVersion, s.Replicas
}

// makeLeader lets a replica lead. Nothing is truncated, and the HW stays this
// replica's own, which usually is behind the old leader's. Kafka: Partition.makeLeader.
func (m *Manager) makeLeader(ctx coord.Context, s *protocol.PartitionState) {
	p := m.ensure(ctx, s.Partition)
	m.unfollow(ctx, p.id)
	wasLeader := p.role == trace.RoleLeader
	p.adopt(s)
	p.role, p.leader, p.isr, p.epochStart = trace.RoleLeader, m.id, s.ISR, p.log.LEO()
	if m.config.Rules.StampEpochAtElection {
		p.log.Epochs.Assign(p.leaderEpoch, p.log.LEO())
	}
	before := p.remotes
	p.remotes = nil
	for i := range s.Replicas.Len() {
		b := s.Replicas.At(i)
		if b == m.id {
			continue
		}
		x := remote{id: b, leo: protocol.NoOffset, caughtUpAt: longAgo, lastLeaderLEO: p.log.LEO(), leadingSince: ctx.Now}
		if s.ISR.Has(b) {
			x.caughtUpAt = ctx.Now
		}
		if k := slices.IndexFunc(before, func(r remote) bool { return r.id == b }); k >= 0 && wasLeader {
			x.leo, x.lastFetchAt, x.sentHW = before[k].leo, before[k].lastFetchAt, before[k].sentHW
		}
		p.remotes = append(p.remotes, x)
	}
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.BecameLeader, Node: m.node(), Partition: p.id, Epoch: p.leaderEpoch, ISR: p.isr, Replicas: p.replicas, Version: p.zkVersion}))
	m.maybeAdvanceHW(ctx, p)
	m.completeProduces(ctx, p.id)
	m.completeFetches(ctx, p.id)
}

// makeFollower lets a replica follow. Kafka: Partition.makeFollower,
// ReplicaManager.makeFollowers.
func (m *Manager) makeFollower(ctx coord.Context, s *protocol.PartitionState, live protocol.Brokers) {
	if p := m.partition(s.Partition); p != nil && !m.config.Rules.KeepReplicaOfDeadLeader {
		p.forgotten = !live.Has(s.Leader) && p.leaderEpoch == protocol.NoEpoch
	}
	p := m.ensure(ctx, s.Partition)
	if !live.Has(s.Leader) {
		// The named leader is not alive as far as this broker knows: the replica exists,
		// so that its HW is checkpointed (KAFKA-1647), and nothing else happens; the epoch
		// is not noted either.
		return
	}
	same := p.role == trace.RoleFollower && p.leader == s.Leader
	switch m.config.Rules.SameLeader {
	case protocol.SameLeaderNextEpoch:
		same = same && s.LeaderEpoch <= p.leaderEpoch+1
	case protocol.SameLeaderSameEpoch:
		same = same && s.LeaderEpoch == p.leaderEpoch
	}
	p.adopt(s)
	p.role, p.leader, p.isr, p.remotes = trace.RoleFollower, s.Leader, 0, nil
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.BecameFollower, Node: m.node(), Partition: p.id, Leader: p.leader, Epoch: p.leaderEpoch}))
	if same {
		return
	}
	m.unfollow(ctx, p.id)
	if m.config.Rules.Truncation == protocol.TruncateToHighWatermark {
		m.truncate(ctx, p, p.hw, trace.ToHighWatermark)
	}
	m.completeProduces(ctx, p.id)
	m.completeFetches(ctx, p.id)
	if !m.shuttingDown {
		m.follow(ctx, p)
	}
}

// StopReplica stops following; a log is deleted only when the request says so.
// Kafka: ReplicaManager.stopReplica.
func (m *Manager) StopReplica(ctx coord.Context, r *protocol.StopReplica) {
	for _, id := range r.Partitions {
		p := m.partition(id)
		if p == nil {
			continue
		}
		m.unfollow(ctx, id)
		if r.Delete {
			m.deleteLog(ctx, p)
		}
	}
}

// deleteLog drops a replica that is assigned to this broker no longer. Who waits for it is
// told that there is none. Kafka: Partition.delete.
func (m *Manager) deleteLog(ctx coord.Context, p *Partition) {
	m.partitions[p.id] = nil
	m.disk.Delete(p.id)
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.LogDeleted, Node: m.node(), Partition: p.id}))
	m.changedISRs = slices.DeleteFunc(m.changedISRs, func(id protocol.Partition) bool { return id == p.id })
	m.completeProduces(ctx, p.id)
	m.completeFetches(ctx, p.id)
}

// ShutDown stops everything in good order: fetchers, then the HW checkpoint, then the
// logs go to disk.
func (m *Manager) ShutDown(ctx coord.Context) {
	m.shuttingDown = true
	m.fetchers = nil
	m.Checkpoint(ctx)
	m.FlushAll(ctx)
}

// truncate cuts a log off and lowers the HW with it.
func (m *Manager) truncate(ctx coord.Context, p *Partition, to protocol.Offset, how trace.How) {
	if !p.log.Truncate(to) {
		return
	}
	before := trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.LogTruncated, Node: m.node(), Partition: p.id, Offset: p.log.LEO(), How: how}))
	if p.hw > p.log.LEO() {
		m.setHW(ctx, p, p.log.LEO())
	}
	trace.Because(ctx.Out, before)
}

// Trim moves a log's start, and lets the fetches that wait find out.
// Kafka: Partition.deleteRecordsOnLeader; with the retention of the lines before KIP-107
// LogManager.cleanupLogs.
func (m *Manager) Trim(ctx coord.Context, id protocol.Partition, to protocol.Offset) {
	if p := m.partition(id); p != nil {
		m.trim(ctx, p, to)
		m.completeFetches(ctx, id)
	}
}

func (m *Manager) trim(ctx coord.Context, p *Partition, to protocol.Offset) {
	if p.log.Trim(min(to, p.log.LEO())) {
		trace.Emit(ctx.Out, trace.Event{Kind: trace.LogTrimmed, Node: m.node(), Partition: p.id, Offset: p.log.Start})
	}
}

// HoldFetches keeps this broker from sending fetches, or lets it again.
func (m *Manager) HoldFetches(ctx coord.Context, held bool) {
	m.heldFetches = held
	if !held {
		m.pumpFetchers(ctx)
	}
}
