package replica

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/storage"
	"tidemark/cluster/trace"
)

// Manager has the replicas of one broker. Kafka: kafka.server.ReplicaManager.
type Manager struct {
	id           protocol.Broker
	config       *protocol.Config
	disk         *storage.Disk
	partitions   []*Partition // by protocol.Partition; nil where the broker has none
	fetchers     []fetcher    // by leader
	fetches      []delayedFetch
	produces     []delayedProduce
	expanding    []expandingFetch
	locked       []sim.Message        // requests that wait for a locked partition, in order
	updates      int64                // ISR updates so far
	changedISRs  []protocol.Partition // not yet told to the controller
	changedAt    sim.Time             // when the latest of them changed
	toldAt       sim.Time             // when changes were last told
	heldFetches  bool                 // no further fetch is sent
	tasks        bool                 // the periodic tasks run
	shuttingDown bool
	// purgatoryAt is when the purgatory's timer goes off, while it is armed.
	purgatoryAt    sim.Time
	purgatoryArmed bool

	arenas arenas
}

// arenas hand out the small immutable parts of messages.
type arenas struct {
	fetch        sim.Arena[protocol.Fetch]
	fetchParts   sim.Arena[protocol.FetchPartition]
	answer       sim.Arena[protocol.FetchAnswer]
	answerParts  sim.Arena[protocol.FetchAnswerPartition]
	produceReply sim.Arena[protocol.ProduceAnswer]
}

// OwnerReplica marks the operations that this package submits to ZooKeeper.
const OwnerReplica uint8 = 1

// What such an operation is for.
const (
	tagWriteISR uint8 = iota
	tagReadISR
	tagNotify
)

// The timers of this package.
const (
	TimerISRExpiration sim.TimerID = 10 + iota
	TimerISRPropagation
	TimerCheckpoint
	TimerPurgatory
	timerFetcher // one for each leader: the last
)

// NewManager makes the replicas of a starting broker from what is on its disk: the
// logs, and for each the HW from the checkpoint file.
// Kafka: Partition.getOrCreateReplica; start-up itself never truncates to the HW.
func NewManager(id protocol.Broker, config *protocol.Config, disk *storage.Disk, heldFetches bool, out *sim.Outbox) *Manager {
	m := &Manager{id: id, config: config, disk: disk, heldFetches: heldFetches}
	for _, l := range disk.Logs {
		p := m.host(l)
		p.hw = min(max(disk.HW(l.Partition), 0), l.LEO())
		if config.Rules.HWAtLeastLogStart {
			p.hw = max(p.hw, l.Start)
		}
		trace.Emit(out, trace.Event{Kind: trace.LogRecovered, Node: sim.NodeID(id), Partition: l.Partition, Offset: l.LEO(), HW: p.hw})
	}
	return m
}

func (m *Manager) host(l *storage.Log) *Partition {
	for int(l.Partition) >= len(m.partitions) {
		m.partitions = append(m.partitions, nil)
	}
	l.Epochs.Repairs = m.config.Rules.EpochCacheRepairs
	p := &Partition{id: l.Partition, log: l, leader: protocol.NoBroker, leaderEpoch: protocol.NoEpoch}
	m.partitions[l.Partition] = p
	return p
}

// partition finds the replica of a partition, or nil.
func (m *Manager) partition(id protocol.Partition) *Partition {
	if id < 0 || int(id) >= len(m.partitions) {
		return nil
	}
	return m.partitions[id]
}

func (m *Manager) node() sim.NodeID { return sim.NodeID(m.id) }

// topic is the topic of a partition.
func (m *Manager) topic(id protocol.Partition) string { return m.config.Catalog.Name(id).Topic }

// Request handles a request about partitions that this broker is asked for. It
// reports whether it was one. A request for a partition whose ISR is being written
// waits: Kafka holds the partition's lock meanwhile.
func (m *Manager) Request(ctx coord.Context, msg *sim.Message) bool {
	switch b := msg.Body.(type) {
	case *protocol.Produce:
		if m.waitForLock(msg, b.Partition) {
			return true
		}
		m.produce(ctx, msg, b)
	case *protocol.Fetch:
		for i := range b.Partitions {
			if m.waitForLock(msg, b.Partitions[i].Partition) {
				return true
			}
		}
		m.fetch(ctx, msg, b)
	case *protocol.EpochRequest:
		for i := range b.Partitions {
			if m.waitForLock(msg, b.Partitions[i].Partition) {
				return true
			}
		}
		m.endOffsets(ctx, msg, b)
	case *protocol.OffsetsRequest:
		if m.waitForLock(msg, b.Partition) {
			return true
		}
		m.offsets(ctx, msg, b)
	default:
		return false
	}
	return true
}

func (m *Manager) waitForLock(msg *sim.Message, id protocol.Partition) bool {
	p := m.partition(id)
	if p == nil || !p.update.active {
		return false
	}
	m.locked = append(m.locked, *msg)
	return true
}

// Locks reports whether a control request must wait because a partition of it is locked.
func (m *Manager) Locks(request protocol.Body) bool {
	locked := func(id protocol.Partition) bool {
		p := m.partition(id)
		return p != nil && p.update.active
	}
	switch r := request.(type) {
	case *protocol.LeaderAndISR:
		return slices.ContainsFunc(r.Partitions, func(s protocol.PartitionState) bool { return locked(s.Partition) })
	case *protocol.StopReplica:
		return r.Delete && slices.ContainsFunc(r.Partitions, locked)
	}
	return false
}

// Answer handles an answer to a fetcher's request.
func (m *Manager) Answer(ctx coord.Context, msg *sim.Message) { m.fetcherAnswer(ctx, msg) }

// Fire handles a timer and reports whether it was one of this package.
func (m *Manager) Fire(ctx coord.Context, id sim.TimerID) bool {
	switch {
	case id == TimerISRExpiration:
		m.expireISRs(ctx)
		m.armISRExpiration(ctx)
	case id == TimerISRPropagation:
		m.propagateISRChanges(ctx)
		ctx.Out.SetTimer(TimerISRPropagation, isrPropagationTick)
	case id == TimerCheckpoint:
		m.Checkpoint(ctx)
		ctx.Out.SetTimer(TimerCheckpoint, sim.Time(m.config.Settings.HighWatermarkCheckpoint))
	case id == TimerPurgatory:
		m.expireParked(ctx)
	case id >= timerFetcher && id < timerFetcher+1+protocol.MaxBrokers:
		m.fireFetcher(ctx, protocol.Broker(id-timerFetcher))
	default:
		return false
	}
	return true
}

// StartTasks starts the periodic tasks, each with its first run after its period, and
// lets the fetches that wait here have come just now.
// Kafka starts the checkpoint task with the first LeaderAndIsr, so that an
// incomplete map is never written over the old file.
func (m *Manager) StartTasks(ctx coord.Context) {
	m.tasks = true
	m.renewFetches(ctx)
	m.armISRExpiration(ctx)
	ctx.Out.SetTimer(TimerISRPropagation, isrPropagationTick)
	ctx.Out.SetTimer(TimerCheckpoint, sim.Time(m.config.Settings.HighWatermarkCheckpoint))
}

// Checkpoint writes the file of high watermarks. A replica that falls out of it is an
// event, too, with no offset.
// Kafka: ReplicaManager.checkpointHighWatermarks.
func (m *Manager) Checkpoint(ctx coord.Context) {
	var file []storage.Checkpoint
	for _, p := range m.partitions {
		if p == nil {
			continue
		}
		if p.forgotten {
			if m.disk.HW(p.id) != protocol.NoOffset {
				trace.Emit(ctx.Out, trace.Event{Kind: trace.HighWatermarkCheckpointed, Node: m.node(), Partition: p.id, HW: protocol.NoOffset})
			}
			continue
		}
		file = append(file, storage.Checkpoint{Partition: p.id, HW: p.hw})
		if m.disk.HW(p.id) != p.hw {
			trace.Emit(ctx.Out, trace.Event{Kind: trace.HighWatermarkCheckpointed, Node: m.node(), Partition: p.id, HW: p.hw})
		}
	}
	m.disk.Checkpoints = file
}

// FlushAll writes all logs to disk.
func (m *Manager) FlushAll(ctx coord.Context) {
	for _, p := range m.partitions {
		if p != nil {
			m.flush(ctx, p)
		}
	}
}

func (m *Manager) flush(ctx coord.Context, p *Partition) {
	p.unflushed = 0
	if p.log.Flush() {
		trace.Emit(ctx.Out, trace.Event{Kind: trace.LogFlushed, Node: m.node(), Partition: p.id, Offset: p.log.LEO()})
	}
}

// appended notes an append: the event, and a flush where the topic asks for one.
// A slow disk holds up what this step has still to say: a leader's answers, a
// follower's next fetch. Kafka: Log.append, log.flush.interval.messages.
func (m *Manager) appended(ctx coord.Context, p *Partition, records []protocol.Record) {
	trace.Emit(ctx.Out, trace.Event{Kind: trace.LogAppended, Node: m.node(), Partition: p.id, Offset: p.log.LEO() - protocol.Offset(len(records)), Records: records})
	ctx.Out.Busy(sim.Time(m.disk.Slow))
	p.unflushed += int64(len(records))
	if limit := m.config.Settings.LogFlushIntervalMessages; limit == noFlush && !m.config.Settings.HasTopicSettings() {
		return
	}
	if p.unflushed >= m.config.Settings.FlushMessages(m.topic(p.id)) {
		ctx.Out.Busy(sim.Time(m.config.Settings.DiskFsync))
		m.flush(ctx, p)
	}
}

const noFlush = 1<<63 - 1

// setHW moves a replica's high watermark.
func (m *Manager) setHW(ctx coord.Context, p *Partition, hw protocol.Offset) sim.Seq {
	kind := trace.HighWatermarkAdvanced
	if hw < p.hw {
		kind = trace.HighWatermarkLowered
	}
	p.hw = hw
	return trace.Emit(ctx.Out, trace.Event{Kind: kind, Node: m.node(), Partition: p.id, HW: hw})
}

// Idle reports whether nothing of replication is under way in this broker that a
// script's settle waits for: no locked partition, no fetcher still to truncate.
func (m *Manager) Idle() bool {
	for _, p := range m.partitions {
		if p != nil && p.update.active {
			return false
		}
	}
	for i := range m.fetchers {
		for k := range m.fetchers[i].partitions {
			if m.fetchers[i].partitions[k].state != fetching {
				return false
			}
		}
	}
	return true
}

// Clone is an independent copy on another disk.
func (m *Manager) Clone(config *protocol.Config, disk *storage.Disk) *Manager {
	c := *m
	c.config, c.disk, c.arenas = config, disk, arenas{}
	c.partitions = make([]*Partition, len(m.partitions))
	for i, p := range m.partitions {
		if p == nil {
			continue
		}
		q := *p
		q.log = disk.Log(p.id)
		q.remotes = slices.Clone(p.remotes)
		c.partitions[i] = &q
	}
	c.fetchers = slices.Clone(m.fetchers)
	for i := range c.fetchers {
		c.fetchers[i].partitions = slices.Clone(c.fetchers[i].partitions)
	}
	c.fetches, c.produces, c.expanding = slices.Clone(m.fetches), slices.Clone(m.produces), slices.Clone(m.expanding)
	for i := range c.expanding {
		c.expanding[i].waits = slices.Clone(c.expanding[i].waits)
	}
	c.locked, c.changedISRs = slices.Clone(m.locked), slices.Clone(m.changedISRs)
	return &c
}

// Describe adds what a running broker's replicas are to the states of its logs.
func (m *Manager) Describe(s *trace.Snapshot) {
	for _, p := range m.partitions {
		if p == nil {
			continue
		}
		r := s.Replica(m.node(), p.id)
		r.Role, r.Leader, r.LeaderEpoch, r.HW = p.role, p.leader, p.leaderEpoch, p.hw
		if p.role == trace.RoleNone {
			r.Leader, r.LeaderEpoch = protocol.NoBroker, protocol.NoEpoch
		}
		if p.role == trace.RoleLeader {
			r.ISR = p.isr
			for _, x := range p.remotes {
				if x.leo != protocol.NoOffset {
					r.Followers = append(r.Followers, trace.FollowerState{Broker: sim.NodeID(x.id), LEO: x.leo})
				}
			}
			slices.SortFunc(r.Followers, func(a, b trace.FollowerState) int { return int(a.Broker) - int(b.Broker) })
		}
	}
	for i := range m.fetches {
		f := &m.fetches[i]
		s.Parked = append(s.Parked, trace.ParkedState{Message: f.msg.ID, Broker: m.node(), From: f.msg.From})
	}
	for i := range m.produces {
		d := &m.produces[i]
		s.Parked = append(s.Parked, trace.ParkedState{Message: d.msg.ID, Broker: m.node(), From: d.msg.From, Produce: true, Partition: d.partition, Offset: d.required})
	}
}
