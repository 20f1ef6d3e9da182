package trace

import (
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Snapshot is the visible state of a cluster between two steps. Its lists are
// sorted, so that equal states are equal values.
type Snapshot struct {
	Seq        sim.Seq
	Time       sim.Time
	Line       protocol.Line
	Partitions []PartitionState // by protocol.Partition
	Brokers    []BrokerState    // by id
	Replicas   []ReplicaState   // by broker, then partition
	Znodes     []ZnodeState     // by path
	Sessions   []SessionState   // by id
	Messages   []MessageState   // under way, by number
	Producers  []ProducerState  // by node
	Readers    []ReaderState    // by node
	Records    []RecordState    // every record that a producer was given, in that order
	Links      []LinkState      // that are not as they should be, by from, to
	Parked     []ParkedState    // requests that wait at a broker, by number
}

// PartitionState is a partition's name and assignment.
type PartitionState struct {
	Name     protocol.TopicPartition
	Replicas protocol.Replicas
}

// ProcessState is what a broker's process does.
type ProcessState uint8

// The states of a process.
const (
	ProcessUp ProcessState = iota
	ProcessDown
	ProcessOff
	ProcessFrozen
)

var processStates = [...]string{"up", "down", "off", "frozen"}

func (s ProcessState) String() string { return processStates[s] }

// BrokerState is a broker.
type BrokerState struct {
	ID          sim.NodeID
	State       ProcessState
	Session     int64 // the ZooKeeper session it believes it has; 0 without one
	Connected   bool  // to ZooKeeper, as it believes
	Registered  bool  // its registration succeeded in this session
	Controller  bool  // it believes it is the controller
	FetchesHeld bool
	ControlHeld bool
	DiskSlow    sim.Time // how much longer its appends take
}

// Role is what a replica does.
type Role uint8

// The roles.
const (
	RoleNone Role = iota
	RoleLeader
	RoleFollower
)

var roles = [...]string{"none", "leader", "follower"}

func (r Role) String() string { return roles[r] }

// ReplicaState is one log on one broker, and what the broker does with it.
type ReplicaState struct {
	Broker      sim.NodeID
	Partition   protocol.Partition
	Role        Role
	Leader      protocol.Broker // whom it follows, or itself
	LeaderEpoch protocol.Epoch
	LogStart    protocol.Offset
	Records     []protocol.Record // from LogStart on
	HW          protocol.Offset
	Flushed     protocol.Offset  // on disk below this
	Checkpoint  protocol.Offset  // HW in the checkpoint file, NoOffset without an entry
	ISR         protocol.Brokers // a leader's own view
	Followers   []FollowerState  // what a leader knows, by broker
}

// LEO is the log end offset.
func (r *ReplicaState) LEO() protocol.Offset { return r.LogStart + protocol.Offset(len(r.Records)) }

// FollowerLEO is where a leader believes a follower's log ends; NoOffset when it has
// not heard of it.
func (r *ReplicaState) FollowerLEO(b protocol.Broker) protocol.Offset {
	for i := range r.Followers {
		if r.Followers[i].Broker == sim.NodeID(b) {
			return r.Followers[i].LEO
		}
	}
	return protocol.NoOffset
}

// FollowerState is what a leader knows of a follower's log end.
type FollowerState struct {
	Broker sim.NodeID
	LEO    protocol.Offset
}

// ZnodeState is a znode.
type ZnodeState struct {
	Path    string
	Data    string
	Version int32
	Owner   int64 // session of an ephemeral, else 0
}

// SessionState is a session at ZooKeeper.
type SessionState struct {
	ID      int64
	Node    sim.NodeID
	Timeout sim.Time
	Heard   sim.Time // when ZooKeeper last heard from it
}

// MessageState is a message under way.
type MessageState struct {
	ID                sim.Seq
	From, To          sim.NodeID
	SentAt, DeliverAt sim.Time
	Held              bool
	Body              protocol.Body
}

// ProducerState is a producer.
type ProducerState struct {
	Node      sim.NodeID
	Partition protocol.Partition
	Acks      int8
	Every     sim.Time        // of its stream, 0 without one
	Leader    protocol.Broker // as it believes
	// Idempotent: it numbers its records, under the id.
	Idempotent bool
	ID         protocol.ProducerID // NoProducerID while it has none
}

// ReaderState is a consumer.
type ReaderState struct {
	Node      sim.NodeID
	Partition protocol.Partition
	Manual    bool
	Position  protocol.Offset // NoOffset while it is not known
	Committed protocol.Offset // NoOffset until it has committed
	Leader    protocol.Broker // as it believes
	Read      []ReadRecord
}

// ReadRecord is a record that a consumer got.
type ReadRecord struct {
	Offset protocol.Offset
	Value  protocol.Value
}

// Fate is what a producer has been told of a record.
type Fate uint8

// The fates.
const (
	Queued  Fate = iota // waits in the producer
	Sent                // written to the socket, no answer yet
	Acked               // told success
	Assumed             // acks=0: nobody will answer
	Failed              // given up
)

var fates = [...]string{"queued", "sent", "acked", "assumed", "failed"}

func (f Fate) String() string { return fates[f] }

// RecordState is a line of the ledger.
type RecordState struct {
	Value     protocol.Value
	Producer  sim.NodeID
	Partition protocol.Partition
	Fate      Fate
	Error     protocol.Error // the last one the producer got for it
	Attempts  int32
	// ProducerID and Sequence are in the header of the batch it was last sent in: NoProducerID
	// and NoSequence until then, and if its producer is not idempotent.
	ProducerID protocol.ProducerID
	Sequence   protocol.Sequence
	QueuedAt   sim.Time
	SentAt     sim.Time        // first
	ToldAt     sim.Time        // of the final verdict
	Offset     protocol.Offset // as the producer was told, else NoOffset
}

// LinkState is one direction of a link.
type LinkState struct {
	From, To  sim.NodeID
	Cut, Held bool
	Slow      sim.Time
	Drops     [protocol.DropClasses]int // armed, by class
}

// AsItShouldBe reports whether nothing was done to the link that still holds.
func (l *LinkState) AsItShouldBe() bool { return *l == LinkState{From: l.From, To: l.To} }

// ParkedState is a request that waits in a broker's purgatory.
type ParkedState struct {
	Message   sim.Seq
	Broker    sim.NodeID
	From      sim.NodeID
	Produce   bool               // else a fetch
	Partition protocol.Partition // of a produce request
	Offset    protocol.Offset    // that the HW must reach for it
}

// Clone is a deep copy, but for records: those only grow or are replaced.
func (s *Snapshot) Clone() *Snapshot {
	c := *s
	c.Partitions = slices.Clone(s.Partitions)
	c.Brokers = slices.Clone(s.Brokers)
	c.Replicas = slices.Clone(s.Replicas)
	for i := range c.Replicas {
		r := &c.Replicas[i]
		r.Records = r.Records[:len(r.Records):len(r.Records)]
		r.Followers = slices.Clone(r.Followers)
	}
	c.Znodes = slices.Clone(s.Znodes)
	c.Sessions = slices.Clone(s.Sessions)
	c.Messages = slices.Clone(s.Messages)
	c.Producers = slices.Clone(s.Producers)
	c.Readers = slices.Clone(s.Readers)
	for i := range c.Readers {
		r := &c.Readers[i]
		r.Read = r.Read[:len(r.Read):len(r.Read)]
	}
	c.Records = slices.Clone(s.Records)
	c.Links = slices.Clone(s.Links)
	c.Parked = slices.Clone(s.Parked)
	return &c
}

// Broker finds a broker, or nil.
func (s *Snapshot) Broker(id sim.NodeID) *BrokerState {
	for i := range s.Brokers {
		if s.Brokers[i].ID == id {
			return &s.Brokers[i]
		}
	}
	return nil
}

// Replica finds a replica, or nil when the broker has no log of the partition.
func (s *Snapshot) Replica(id sim.NodeID, p protocol.Partition) *ReplicaState {
	for i := range s.Replicas {
		if r := &s.Replicas[i]; r.Broker == id && r.Partition == p {
			return r
		}
	}
	return nil
}

// Znode finds a znode, or nil.
func (s *Snapshot) Znode(path string) *ZnodeState {
	i, ok := s.znodeIndex(path)
	if !ok {
		return nil
	}
	return &s.Znodes[i]
}

// Producer finds a producer, Reader a consumer, or nil.
func (s *Snapshot) Producer(id sim.NodeID) *ProducerState {
	for i := range s.Producers {
		if s.Producers[i].Node == id {
			return &s.Producers[i]
		}
	}
	return nil
}

// Reader finds a consumer, or nil.
func (s *Snapshot) Reader(id sim.NodeID) *ReaderState {
	for i := range s.Readers {
		if s.Readers[i].Node == id {
			return &s.Readers[i]
		}
	}
	return nil
}

// Record finds a record of the ledger by its value, or nil.
func (s *Snapshot) Record(v protocol.Value) *RecordState {
	// Values are numbered in the order in which producers were given them, but for
	// those that a script only asks about.
	for i := min(int(v), len(s.Records)-1); i >= 0; i-- {
		if s.Records[i].Value == v {
			return &s.Records[i]
		}
	}
	return nil
}

// Link finds the state of a direction, or nil when it is as it should be.
func (s *Snapshot) Link(from, to sim.NodeID) *LinkState {
	for i := range s.Links {
		if s.Links[i].From == from && s.Links[i].To == to {
			return &s.Links[i]
		}
	}
	return nil
}
