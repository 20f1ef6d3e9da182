package trace

import (
	"cmp"
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Apply folds an event into the state. The browser's model does the same; see the
// law in the package comment.
func (s *Snapshot) Apply(e *Event) {
	s.Seq, s.Time = e.Seq, e.Time
	switch e.Kind {
	case BrokerAdded:
		s.Brokers = insert(s.Brokers, BrokerState{ID: e.Node}, func(a, b BrokerState) int { return cmp.Compare(a.ID, b.ID) })
	case PartitionAdded:
		s.Partitions = append(s.Partitions, PartitionState{Name: protocol.TopicPartition{Topic: e.Path, Index: int(e.Offset)}, Replicas: e.Replicas})
	case AssignmentChanged:
		s.Partitions[e.Partition].Replicas = e.Replicas
	case MessageSent, MessageDelivered, MessageLost, MessageHeld, MessageReleased:
		s.applyMessage(e)
	case BrokerStarted, BrokerStopped, BrokerFrozen, BrokerThawed, FetchesHeld, FetchesReleased, ControlHeld, ControlReleased,
		ZooKeeperConnected, ZooKeeperDisconnected, ZooKeeperSessionLost, BrokerRegistered, ControllerElected, ControllerResigned:
		s.applyBroker(e)
	case DiskSlowed:
		s.Broker(e.Node).DiskSlow = e.At
	case LinkCut, LinkHealed, LinkHeld, LinkReleased, LinkSlowed, DropArmed:
		s.applyLink(e)
	case SessionOpened:
		s.Sessions = insert(s.Sessions, SessionState{ID: e.Session, Node: e.Peer, Timeout: e.At, Heard: e.Time}, func(a, b SessionState) int { return cmp.Compare(a.ID, b.ID) })
	case SessionClosed, SessionExpired:
		s.Sessions = slices.DeleteFunc(s.Sessions, func(x SessionState) bool { return x.ID == e.Session })
	case ZnodeCreated:
		s.Znodes = insert(s.Znodes, ZnodeState{Path: e.Path, Data: e.Text, Version: e.Version, Owner: e.Session}, func(a, b ZnodeState) int { return cmp.Compare(a.Path, b.Path) })
	case ZnodeChanged:
		z := s.Znode(e.Path)
		z.Data, z.Version = e.Text, e.Version
	case ZnodeDeleted:
		if i, ok := s.znodeIndex(e.Path); ok {
			s.Znodes = slices.Delete(s.Znodes, i, i+1)
		}
	case BecameLeader, BecameFollower, ReplicaStopped, LogCreated, LogRecovered, LogAppended, LogTruncated, LogTailLost, LogTrimmed, LogRestarted, LogFlushed, LogWiped, LogDeleted,
		HighWatermarkAdvanced, HighWatermarkLowered, HighWatermarkCheckpointed, FollowerProgressed, ISRShrunk, ISRExpanded:
		s.applyReplica(e)
	case CheckpointWiped:
		for i := range s.Replicas {
			if r := &s.Replicas[i]; r.Broker == e.Node {
				r.Checkpoint = protocol.NoOffset
				r.HW = 0
			}
		}
	case FetchParked, ProduceParked:
		s.Parked = insert(s.Parked, ParkedState{Message: e.Message, Broker: e.Node, From: e.Peer, Produce: e.Kind == ProduceParked, Partition: e.Partition, Offset: e.Offset},
			func(a, b ParkedState) int { return cmp.Compare(a.Message, b.Message) })
	case FetchUnparked, ProduceUnparked:
		s.Parked = slices.DeleteFunc(s.Parked, func(p ParkedState) bool { return p.Message == e.Message })
	case ProducerAdded, ProducerChanged, StreamStarted, StreamStopped,
		RecordQueued, RecordSent, RecordAcked, RecordAssumed, RecordFailed, ProduceRefused, ProducerIDAssigned, ProducerIDDropped:
		s.applyProducer(e)
	case ReaderAdded, RecordRead, ReaderMoved, PositionCommitted:
		s.applyReader(e)
	case LeaderLearned:
		if p := s.Producer(e.Node); p != nil {
			p.Leader = e.Leader
		} else if r := s.Reader(e.Node); r != nil {
			r.Leader = e.Leader
		}
	}
}

func (s *Snapshot) applyMessage(e *Event) {
	if e.Kind == MessageSent {
		s.Messages = append(s.Messages, MessageState{ID: e.Message, From: e.Node, To: e.Peer, SentAt: e.Time, DeliverAt: e.At, Body: e.Body})
		return
	}
	i, ok := slices.BinarySearchFunc(s.Messages, e.Message, func(m MessageState, id sim.Seq) int { return cmp.Compare(m.ID, id) })
	if !ok {
		return
	}
	m := &s.Messages[i]
	switch e.Kind {
	case MessageHeld:
		m.Held = true
	case MessageReleased:
		m.Held, m.DeliverAt = false, e.At
	case MessageDelivered:
		if session := sessionOf(m.Body); session != 0 {
			for i := range s.Sessions {
				if s.Sessions[i].ID == session {
					s.Sessions[i].Heard = e.Time
				}
			}
		}
		s.Messages = slices.Delete(s.Messages, i, i+1)
	case MessageLost:
		body := m.Body
		s.Messages = slices.Delete(s.Messages, i, i+1)
		if d, ok := body.(sim.Droppable); ok && e.How == ByDrop {
			s.dropUsed(e, d.DropClass())
		}
	}
}

// dropUsed takes an armed drop off the link on which it lost a message.
func (s *Snapshot) dropUsed(e *Event, class uint8) {
	l := s.Link(e.Peer, e.Node)
	l.Drops[class]--
	s.forgetLink(l)
}

// SessionBody is a body that keeps a ZooKeeper session alive when it arrives.
type SessionBody interface{ KeepsAlive() int64 }

func sessionOf(b protocol.Body) int64 {
	if s, ok := b.(SessionBody); ok {
		return s.KeepsAlive()
	}
	return 0
}

func (s *Snapshot) applyBroker(e *Event) {
	b := s.Broker(e.Node)
	switch e.Kind {
	case BrokerStarted:
		b.State = ProcessUp
	case BrokerStopped:
		*b = BrokerState{ID: b.ID, State: ProcessDown, FetchesHeld: b.FetchesHeld, ControlHeld: b.ControlHeld, DiskSlow: b.DiskSlow}
		if e.How == LostPower {
			b.State = ProcessOff
		}
		for i := range s.Replicas {
			if r := &s.Replicas[i]; r.Broker == e.Node {
				r.stop()
				r.HW = max(r.Checkpoint, 0)
			}
		}
		s.Parked = slices.DeleteFunc(s.Parked, func(p ParkedState) bool { return p.Broker == e.Node })
	case BrokerFrozen:
		b.State = ProcessFrozen
	case BrokerThawed:
		b.State = ProcessUp
	case FetchesHeld, FetchesReleased:
		b.FetchesHeld = e.Kind == FetchesHeld
	case ControlHeld, ControlReleased:
		b.ControlHeld = e.Kind == ControlHeld
	case ZooKeeperConnected:
		b.Session, b.Connected = e.Session, true
	case ZooKeeperDisconnected:
		b.Connected = false
	case ZooKeeperSessionLost:
		b.Session, b.Connected, b.Registered = 0, false, false
	case BrokerRegistered:
		b.Registered = true
	case ControllerElected:
		b.Controller = true
	case ControllerResigned:
		b.Controller = false
	}
}

// stop forgets what a process knew of a replica.
func (r *ReplicaState) stop() {
	r.Role, r.Leader, r.LeaderEpoch, r.ISR, r.Followers = RoleNone, protocol.NoBroker, protocol.NoEpoch, 0, nil
}

func (s *Snapshot) applyLink(e *Event) {
	l := s.Link(e.Node, e.Peer)
	if l == nil {
		s.Links = insert(s.Links, LinkState{From: e.Node, To: e.Peer}, func(a, b LinkState) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		})
		l = s.Link(e.Node, e.Peer)
	}
	switch e.Kind {
	case LinkCut, LinkHealed:
		l.Cut = e.Kind == LinkCut
	case LinkHeld, LinkReleased:
		l.Held = e.Kind == LinkHeld
	case LinkSlowed:
		l.Slow = e.At
	case DropArmed:
		class, _ := protocol.ParseDropClass(e.Text)
		l.Drops[class]++
	}
	s.forgetLink(l)
}

// forgetLink drops the state of a link that is as it should be again.
func (s *Snapshot) forgetLink(l *LinkState) {
	if l.AsItShouldBe() {
		from, to := l.From, l.To
		s.Links = slices.DeleteFunc(s.Links, func(x LinkState) bool { return x.From == from && x.To == to })
	}
}

func (s *Snapshot) applyReplica(e *Event) {
	if e.Kind == LogCreated {
		s.Replicas = insert(s.Replicas, ReplicaState{Broker: e.Node, Partition: e.Partition, Leader: protocol.NoBroker, LeaderEpoch: protocol.NoEpoch, Checkpoint: protocol.NoOffset},
			func(a, b ReplicaState) int {
				return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Partition, b.Partition))
			})
		return
	}
	r := s.Replica(e.Node, e.Partition)
	switch e.Kind {
	case BecameLeader:
		followers := r.Followers
		if r.Role != RoleLeader {
			followers = nil
		}
		followers = slices.DeleteFunc(slices.Clone(followers), func(f FollowerState) bool { return !e.Replicas.Has(protocol.Broker(f.Broker)) })
		r.stop()
		r.Role, r.Leader, r.LeaderEpoch, r.ISR, r.Followers = RoleLeader, protocol.Broker(e.Node), e.Epoch, e.ISR, followers
	case BecameFollower:
		r.stop()
		r.Role, r.Leader, r.LeaderEpoch = RoleFollower, e.Leader, e.Epoch
	case ReplicaStopped:
		r.stop()
	case LogRecovered:
		r.HW = e.HW
	case LogAppended:
		r.Records = append(r.Records, e.Records...)
	case LogTruncated, LogTailLost:
		r.Records = slices.Clone(r.Records[:max(e.Offset-r.LogStart, 0)])
		r.Flushed, r.LogStart = min(r.Flushed, e.Offset), min(r.LogStart, e.Offset)
	case LogTrimmed:
		r.Records = r.Records[e.Offset-r.LogStart:]
		r.LogStart, r.Flushed = e.Offset, max(r.Flushed, e.Offset)
	case LogRestarted:
		r.Records, r.LogStart, r.Flushed = nil, e.Offset, e.Offset
	case LogFlushed:
		r.Flushed = e.Offset
	case LogWiped, LogDeleted:
		s.Replicas = slices.DeleteFunc(s.Replicas, func(x ReplicaState) bool { return x.Broker == e.Node && x.Partition == e.Partition })
	case HighWatermarkAdvanced, HighWatermarkLowered:
		r.HW = e.HW
	case HighWatermarkCheckpointed:
		r.Checkpoint = e.HW
	case FollowerProgressed:
		for i := range r.Followers {
			if r.Followers[i].Broker == e.Peer {
				r.Followers[i].LEO = e.Offset
				return
			}
		}
		r.Followers = insert(r.Followers, FollowerState{e.Peer, e.Offset}, func(a, b FollowerState) int { return cmp.Compare(a.Broker, b.Broker) })
	case ISRShrunk, ISRExpanded:
		r.ISR = e.ISR
	}
}

func (s *Snapshot) applyProducer(e *Event) {
	switch e.Kind {
	case ProducerAdded:
		s.Producers = insert(s.Producers, ProducerState{Node: e.Node, Partition: e.Partition, Acks: e.Acks, Leader: protocol.NoBroker, Idempotent: e.How == Idempotent, ID: protocol.NoProducerID},
			func(a, b ProducerState) int { return cmp.Compare(a.Node, b.Node) })
	case ProducerChanged:
		s.Producer(e.Node).Acks = e.Acks
	case StreamStarted:
		s.Producer(e.Node).Every = e.At
	case StreamStopped:
		s.Producer(e.Node).Every = 0
	case ProducerIDAssigned:
		s.Producer(e.Node).ID = e.Producer
	case ProducerIDDropped:
		s.Producer(e.Node).ID = protocol.NoProducerID
	case RecordQueued:
		for _, v := range e.Values {
			s.Records = append(s.Records, RecordState{Value: v, Producer: e.Node, Partition: e.Partition, QueuedAt: e.Time, Offset: protocol.NoOffset, ProducerID: protocol.NoProducerID, Sequence: protocol.NoSequence})
		}
	default:
		for i, v := range e.Values {
			s.applyFate(s.Record(v), e, i)
		}
	}
}

func (s *Snapshot) applyFate(r *RecordState, e *Event, i int) {
	switch e.Kind {
	case RecordSent:
		r.Fate = Sent
		if e.Producer != protocol.NoProducerID {
			r.ProducerID, r.Sequence = e.Producer, e.Sequence+protocol.Sequence(i)
		}
		if r.Attempts++; r.Attempts == 1 {
			r.SentAt = e.Time
		}
	case RecordAcked:
		r.Fate, r.ToldAt, r.Offset = Acked, e.Time, e.Offset+protocol.Offset(i)
	case RecordAssumed:
		r.Fate, r.ToldAt = Assumed, e.Time
	case ProduceRefused:
		r.Fate, r.Error = Queued, e.Error
	case RecordFailed:
		r.Fate, r.ToldAt, r.Error = Failed, e.Time, e.Error
	}
}

func (s *Snapshot) applyReader(e *Event) {
	if e.Kind == ReaderAdded {
		s.Readers = insert(s.Readers, ReaderState{Node: e.Node, Partition: e.Partition, Manual: e.How == Manual, Position: e.Offset, Committed: protocol.NoOffset, Leader: protocol.NoBroker},
			func(a, b ReaderState) int { return cmp.Compare(a.Node, b.Node) })
		return
	}
	r := s.Reader(e.Node)
	switch e.Kind {
	case RecordRead:
		for i, rec := range e.Records {
			r.Read = append(r.Read, ReadRecord{e.Offset + protocol.Offset(i), rec.Value})
		}
		r.Position = e.Offset + protocol.Offset(len(e.Records))
	case ReaderMoved:
		r.Position = e.Offset
	case PositionCommitted:
		r.Committed = e.Offset
	}
}

func (s *Snapshot) znodeIndex(path string) (int, bool) {
	return slices.BinarySearchFunc(s.Znodes, path, func(z ZnodeState, p string) int { return cmp.Compare(z.Path, p) })
}

// insert puts a value in its place in a sorted list.
func insert[T any](l []T, v T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(l, v, compare)
	return slices.Insert(l, i, v)
}
