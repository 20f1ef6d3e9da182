package broker

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/storage"
	"tidemark/cluster/trace"
)

// Machine is a broker's machine: its disk, and its process while it runs.
type Machine struct {
	id     protocol.Broker
	config *protocol.Config
	disk   storage.Disk
	broker *broker // nil while no process runs

	// What a person did to it, which survives a restart.
	heldFetches bool
	heldControl protocol.Brokers
}

// timerWriteback is the operating system's: pages older than disk.writeback go to disk.
const timerWriteback = sim.MachineTimer

// writebackTick is how often it looks. Linux wakes its flusher every five seconds.
const writebackTick = 5 * sim.Second

// NewMachine makes a machine with an empty disk.
func NewMachine(id protocol.Broker, config *protocol.Config) *Machine {
	return &Machine{id: id, config: config}
}

// Commands that a machine takes.
type (
	// Begin lets the periodic tasks count from now: the initial settling is over.
	Begin struct{}
	// ShutDown asks for a controlled shutdown.
	ShutDown struct{}
	// HoldFetches holds or releases the broker's fetches.
	HoldFetches struct{ Held bool }
	// HoldControl holds or releases control requests for a broker.
	HoldControl struct {
		Broker protocol.Broker
		Held   bool
	}
	// ElectUnclean asks the controller for an unclean election.
	ElectUnclean struct{ Partition protocol.Partition }
	// UncleanEnabled tells that unclean election was switched on, for one topic or, when it
	// is empty, for all.
	UncleanEnabled struct{ Topic string }
	// Trim moves the start of a log.
	Trim struct {
		Partition protocol.Partition
		To        protocol.Offset
	}
	// Flush writes the logs to disk, Checkpoint the high watermarks.
	Flush      struct{}
	Checkpoint struct{}
)

// Step implements sim.Node.
func (m *Machine) Step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	if in.Kind == sim.Fire && in.Timer == timerWriteback {
		m.writeback(now, out)
		return
	}
	if in.Kind == sim.Start {
		m.broker = newBroker(m, now, out)
		out.SetTimer(timerWriteback, writebackTick)
		return
	}
	if in.Kind == sim.Tell {
		switch x := in.Command.(type) {
		case HoldFetches:
			m.heldFetches = x.Held
		case HoldControl:
			m.heldControl = m.heldControl.Without(x.Broker)
			if x.Held {
				m.heldControl = m.heldControl.With(x.Broker)
			}
		}
	}
	if m.broker != nil {
		m.broker.step(now, in, out)
		if out.Exiting() {
			m.broker = nil
		}
	}
}

// writeback writes back what has been dirty for long enough.
func (m *Machine) writeback(now sim.Time, out *sim.Outbox) {
	for _, l := range m.disk.Logs {
		if l.Flushed < l.LEO() && now-sim.Time(l.DirtySince) >= sim.Time(m.config.Settings.DiskWriteback) && l.Flush() {
			trace.Emit(out, trace.Event{Kind: trace.LogFlushed, Node: sim.NodeID(m.id), Partition: l.Partition, Offset: l.LEO()})
		}
	}
	out.SetTimer(timerWriteback, writebackTick)
}

// Crash forgets the process. The page cache stays.
func (m *Machine) Crash() { m.broker = nil }

// Running reports whether a process runs.
func (m *Machine) Running() bool { return m.broker != nil }

// LosePower forgets the process and what was not on disk. With keep ≥ 0 exactly that
// many records of one partition's log survive.
func (m *Machine) LosePower(rec *trace.Recorder, keep int, of protocol.Partition) {
	m.broker = nil
	for _, l := range m.disk.Logs {
		to := l.Flushed
		if keep >= 0 && l.Partition == of {
			to = l.Start + protocol.Offset(keep)
		}
		if l.Truncate(to) {
			rec.Emit(trace.Event{Kind: trace.LogTailLost, Node: sim.NodeID(m.id), Partition: l.Partition, Offset: l.LEO()})
		}
		if l.Flush() {
			rec.Emit(trace.Event{Kind: trace.LogFlushed, Node: sim.NodeID(m.id), Partition: l.Partition, Offset: l.LEO()})
		}
	}
}

// Wipe empties the disk, or removes only the checkpoint file.
func (m *Machine) Wipe(rec *trace.Recorder, checkpointOnly bool) {
	m.disk.Checkpoints = nil
	if checkpointOnly {
		rec.Emit(trace.Event{Kind: trace.CheckpointWiped, Node: sim.NodeID(m.id)})
		return
	}
	for _, l := range m.disk.Logs {
		rec.Emit(trace.Event{Kind: trace.LogWiped, Node: sim.NodeID(m.id), Partition: l.Partition})
	}
	m.disk.Logs = nil
}

// SlowDisk lets appends take so much longer from now on, in this life and the next.
func (m *Machine) SlowDisk(by sim.Time) { m.disk.Slow = int64(by) }

// Idle reports whether the broker has nothing under way that a script's settle waits for.
func (m *Machine) Idle() bool {
	return m.broker == nil || m.broker.idle()
}

// Asked is the broker's request to a leader that it waits for an answer to, 0 without one.
func (m *Machine) Asked(leader protocol.Broker) sim.Seq {
	if m.broker == nil {
		return 0
	}
	return m.broker.replicas.Asked(leader)
}

// Registered reports whether the broker's znode is there, as far as it knows.
func (m *Machine) Registered() bool { return m.broker != nil && m.broker.registered }

// Batches are the headers of the idempotent producers' batches in the log of a partition.
func (m *Machine) Batches(p protocol.Partition) []protocol.Batch {
	if l := m.disk.Log(p); l != nil {
		return l.Batches
	}
	return nil
}

// Epochs is the leader epoch cache of a partition's log.
func (m *Machine) Epochs(p protocol.Partition) []storage.EpochStart {
	if l := m.disk.Log(p); l != nil {
		return l.Epochs.Entries()
	}
	return nil
}

// IsController reports whether the broker believes it is the controller.
func (m *Machine) IsController() bool { return m.broker != nil && m.broker.controller.Active() }

// Clone is an independent copy.
func (m *Machine) Clone(config *protocol.Config) *Machine {
	c := *m
	c.config = config
	c.disk = m.disk.Clone()
	if m.broker != nil {
		c.broker = m.broker.clone(&c)
	}
	return &c
}

// Describe adds the machine's visible state to a snapshot.
func (m *Machine) Describe(s *trace.Snapshot, status sim.Status, heldControl bool) {
	b := trace.BrokerState{ID: sim.NodeID(m.id), State: trace.ProcessState(status), FetchesHeld: m.heldFetches, ControlHeld: heldControl, DiskSlow: sim.Time(m.disk.Slow)}
	for _, l := range m.disk.Logs {
		checkpoint := m.disk.HW(l.Partition)
		s.Replicas = append(s.Replicas, trace.ReplicaState{
			Broker: b.ID, Partition: l.Partition, Leader: protocol.NoBroker, LeaderEpoch: protocol.NoEpoch, LogStart: l.Start,
			Records: l.Records, HW: max(checkpoint, 0), Flushed: l.Flushed, Checkpoint: checkpoint,
		})
	}
	if x := m.broker; x != nil {
		b.Session, b.Connected = x.session.ID(), x.session.IsConnected()
		b.Registered, b.Controller = x.registered, x.controller.Active()
		x.replicas.Describe(s)
	}
	s.Brokers = append(s.Brokers, b)
}

var _ sim.Node = (*Machine)(nil)
