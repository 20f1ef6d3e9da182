package protocol

// This file has the bodies of Kafka's requests and answers, as far as replication
// needs their fields. Bodies are immutable once sent. A Describe method says what
// an observer may show of one.

// Body is the body of a message.
type Body interface {
	// Describe fills in what the body is about.
	Describe(d *Description)
}

// Description is what can be seen of a message.
type Description struct {
	Kind       MessageKind
	Error      Error
	Acks       int8  // of a produce request: 0, 1 or −1 for all
	Epoch      Epoch // controller epoch of a control request
	Text       string
	Partitions []PartitionDescription
}

// PartitionDescription is a message's part about one partition.
type PartitionDescription struct {
	Partition Partition
	Error     Error
	Offset    Offset   // fetched from, first offset of the records, or NoOffset
	Count     int      // records carried
	HW        Offset   // high watermark carried, or NoOffset
	Epoch     Epoch    // leader epoch carried, or NoEpoch
	Leader    Broker   // of a control request or metadata; 0 where it carries none
	ISR       Brokers  // likewise
	Records   []Record // carried; shared with the message
	Producer  ProducerID
	Sequence  Sequence // of the first record, with a producer id
}

// MessageKind names what a message is.
type MessageKind uint8

// The kinds of message.
const (
	KindProduce MessageKind = iota + 1
	KindProduceAnswer
	KindFetch
	KindFetchAnswer
	KindEpoch // OffsetsForLeaderEpoch
	KindEpochAnswer
	KindOffsets // ListOffsets
	KindOffsetsAnswer
	KindMetadata
	KindMetadataAnswer
	KindLeaderAndISR
	KindLeaderAndISRAnswer
	KindUpdateMetadata
	KindUpdateMetadataAnswer
	KindStopReplica
	KindStopReplicaAnswer
	KindControlledShutdown
	KindControlledShutdownAnswer
	KindInitProducerID
	KindInitProducerIDAnswer
	KindZooKeeper // a request to ZooKeeper
	KindZooKeeperAnswer
	KindZooKeeperPing
	KindZooKeeperPong
	KindZooKeeperWatch // a watch event
)

var messageKinds = [...]string{"", "produce", "produce_answer", "fetch", "fetch_answer", "epoch", "epoch_answer",
	"offsets", "offsets_answer", "metadata", "metadata_answer", "leader_and_isr", "leader_and_isr_answer",
	"update_metadata", "update_metadata_answer", "stop_replica", "stop_replica_answer",
	"controlled_shutdown", "controlled_shutdown_answer", "init_producer_id", "init_producer_id_answer",
	"zookeeper", "zookeeper_answer", "zookeeper_ping", "zookeeper_pong", "zookeeper_watch"}

// MessageKinds lists every kind.
func MessageKinds() []MessageKind {
	l := make([]MessageKind, 0, len(messageKinds)-1)
	for k := KindProduce; int(k) < len(messageKinds); k++ {
		l = append(l, k)
	}
	return l
}

func (k MessageKind) String() string { return messageKinds[k] }

// Purposes of connections.
const (
	ForClients   = 1 // produce, fetch, metadata and offsets of clients
	ForReplicas  = 2 // a replica fetcher's connection to its leader
	ForControl   = 3 // the controller's channel to a broker
	ForZooKeeper = 4 // a session
	ForShutdown  = 5 // a broker's request for controlled shutdown to the controller
)

// AcksAll is acks=all on the wire.
const AcksAll int8 = -1

// Produce asks the leader to append records to one partition. Kafka's request can
// name several; a producer here feeds one partition.
type Produce struct {
	Acks      int8
	Partition Partition
	Producer  ProducerID // NoProducerID: not idempotent
	Timeout   int64      // microseconds the leader may wait for the ISR
	Values    []Value
	Sequence  Sequence // of the first record
}

// ProduceAnswer answers it, unless acks is 0.
type ProduceAnswer struct {
	Partition  Partition
	Error      Error
	BaseOffset Offset
	LogStart   Offset
}

// Consumer is the ReplicaID of a fetch that is not a follower's.
const Consumer = NoBroker

// Fetch asks for records from an offset on. A follower's fetch is also its report
// that it has everything below that offset.
type Fetch struct {
	Replica    Broker // the follower, or Consumer
	MaxWait    int64  // microseconds
	Partitions []FetchPartition
}

// FetchPartition is a fetch of one partition.
type FetchPartition struct {
	Partition   Partition
	Offset      Offset
	LeaderEpoch Epoch // NoEpoch: do not check
}

// FetchAnswer answers it.
type FetchAnswer struct{ Partitions []FetchAnswerPartition }

// FetchAnswerPartition has the records of one partition from the offset that was asked for.
type FetchAnswerPartition struct {
	Partition Partition
	Error     Error
	HW        Offset
	LogStart  Offset
	Offset    Offset // of the first record; the offset that was asked for
	Records   []Record
	// Batches are the headers of the idempotent producers' batches among them; nil: none. A
	// pointer, because most answers have none and there are millions of answers.
	Batches *[]Batch
}

// EpochRequest is OffsetsForLeaderEpoch: where did this epoch end in the leader's log?
type EpochRequest struct {
	Replica    Broker
	Partitions []EpochPartition
}

// EpochPartition asks about one partition.
type EpochPartition struct {
	Partition   Partition
	Epoch       Epoch // the follower's latest
	LeaderEpoch Epoch // the epoch it follows in; NoEpoch: do not check
}

// EpochAnswer answers it.
type EpochAnswer struct{ Partitions []EpochAnswerPartition }

// EpochAnswerPartition is the largest epoch at most the one asked for, and its end.
type EpochAnswerPartition struct {
	Partition Partition
	Error     Error
	Epoch     Epoch
	EndOffset Offset
}

// OffsetsRequest is ListOffsets for one partition.
type OffsetsRequest struct {
	Replica     Broker
	Partition   Partition
	Latest      bool // else the earliest
	LeaderEpoch Epoch
}

// OffsetsAnswer answers it.
type OffsetsAnswer struct {
	Partition Partition
	Error     Error
	Offset    Offset
	Latest    bool
}

// MetadataRequest asks a broker who leads.
type MetadataRequest struct{}

// MetadataAnswer is what the broker's cache says.
type MetadataAnswer struct {
	Brokers    Brokers
	Controller Broker
	Partitions []PartitionMetadata
}

// PartitionMetadata is one partition in it.
type PartitionMetadata struct {
	Partition   Partition
	Error       Error
	Leader      Broker
	LeaderEpoch Epoch
	ISR         Brokers
}

// InitProducerID asks a broker for a producer id.
type InitProducerID struct{}

// InitProducerIDAnswer answers it.
type InitProducerIDAnswer struct{ Producer ProducerID }

// PartitionState is a decision about one partition, as LeaderAndIsr carries it.
type PartitionState struct {
	Partition       Partition
	ControllerEpoch Epoch // of the controller that decided
	Leader          Broker
	LeaderEpoch     Epoch
	ISR             Brokers
	ZkVersion       int32
	Replicas        Replicas
	New             bool
}

// LeaderAndISR tells a broker which partitions it leads and follows.
type LeaderAndISR struct {
	Controller      Broker
	ControllerEpoch Epoch
	BrokerEpoch     int64 // NoBrokerEpoch: do not check
	Partitions      []PartitionState
	LiveLeaders     Brokers
}

// NoBrokerEpoch stands where broker epochs are not used.
const NoBrokerEpoch int64 = -1

// UpdateMetadata fills a broker's metadata cache.
type UpdateMetadata struct {
	Controller      Broker
	ControllerEpoch Epoch
	BrokerEpoch     int64
	Partitions      []PartitionState
	LiveBrokers     Brokers
}

// StopReplica makes a broker stop following partitions, and delete them if it says so.
type StopReplica struct {
	Controller      Broker
	ControllerEpoch Epoch
	BrokerEpoch     int64
	Delete          bool
	Partitions      []Partition
}

// ControlAnswer answers all three.
type ControlAnswer struct {
	Kind  MessageKind // which answer it is
	Error Error
}

// ControlledShutdown asks the controller to move leadership away from a broker.
type ControlledShutdown struct {
	Broker      Broker
	BrokerEpoch int64
}

// ControlledShutdownAnswer lists the partitions that the broker still leads.
type ControlledShutdownAnswer struct {
	Error     Error
	Remaining []Partition
}
