package protocol

// Error is an error of Kafka's protocol: a value that travels in answers, not a
// Go error. Its number is Kafka's (Errors.java).
type Error int16

// The errors that this cluster uses.
const (
	UnknownServerError           Error = -1
	None                         Error = 0
	OffsetOutOfRange             Error = 1
	UnknownTopicOrPartition      Error = 3
	LeaderNotAvailable           Error = 5
	NotLeaderForPartition        Error = 6
	RequestTimedOut              Error = 7
	StaleControllerEpoch         Error = 11
	NetworkException             Error = 13
	NotEnoughReplicas            Error = 19
	NotEnoughReplicasAfterAppend Error = 20
	InvalidRequiredAcks          Error = 21
	OutOfOrderSequenceNumber     Error = 45
	DuplicateSequenceNumber      Error = 46
	InvalidProducerEpoch         Error = 47
	KafkaStorageError            Error = 56
	UnknownProducerID            Error = 59
	FencedLeaderEpoch            Error = 74
	UnknownLeaderEpoch           Error = 75
	StaleBrokerEpoch             Error = 77
	OffsetNotAvailable           Error = 78
)

type errorEntry struct {
	name      string
	retriable bool // by a producer
}

var errorTable = map[Error]errorEntry{
	None:                         {"NONE", false},
	UnknownServerError:           {"UNKNOWN_SERVER_ERROR", false},
	OffsetOutOfRange:             {"OFFSET_OUT_OF_RANGE", false},
	UnknownTopicOrPartition:      {"UNKNOWN_TOPIC_OR_PARTITION", true},
	LeaderNotAvailable:           {"LEADER_NOT_AVAILABLE", true},
	NotLeaderForPartition:        {"NOT_LEADER_FOR_PARTITION", true},
	RequestTimedOut:              {"REQUEST_TIMED_OUT", true},
	StaleControllerEpoch:         {"STALE_CONTROLLER_EPOCH", false},
	NetworkException:             {"NETWORK_EXCEPTION", true},
	NotEnoughReplicas:            {"NOT_ENOUGH_REPLICAS", true},
	NotEnoughReplicasAfterAppend: {"NOT_ENOUGH_REPLICAS_AFTER_APPEND", true},
	InvalidRequiredAcks:          {"INVALID_REQUIRED_ACKS", false},
	OutOfOrderSequenceNumber:     {"OUT_OF_ORDER_SEQUENCE_NUMBER", false},
	DuplicateSequenceNumber:      {"DUPLICATE_SEQUENCE_NUMBER", false},
	InvalidProducerEpoch:         {"INVALID_PRODUCER_EPOCH", false},
	KafkaStorageError:            {"KAFKA_STORAGE_ERROR", true},
	UnknownProducerID:            {"UNKNOWN_PRODUCER_ID", false},
	FencedLeaderEpoch:            {"FENCED_LEADER_EPOCH", true},
	UnknownLeaderEpoch:           {"UNKNOWN_LEADER_EPOCH", true},
	StaleBrokerEpoch:             {"STALE_BROKER_EPOCH", false},
	OffsetNotAvailable:           {"OFFSET_NOT_AVAILABLE", true},
}

// String is the error's name in Kafka.
func (e Error) String() string { return errorTable[e].name }

// Retriable reports whether a producer may try again.
func (e Error) Retriable() bool { return errorTable[e].retriable }

// ParseError finds an error by its name.
func ParseError(name string) (Error, bool) {
	for _, e := range Errors() {
		if errorTable[e].name == name {
			return e, true
		}
	}
	return 0, false
}

// Errors lists all errors but None, by number.
func Errors() []Error {
	return []Error{UnknownServerError, OffsetOutOfRange, UnknownTopicOrPartition, LeaderNotAvailable, NotLeaderForPartition, RequestTimedOut,
		StaleControllerEpoch, NetworkException, NotEnoughReplicas, NotEnoughReplicasAfterAppend, InvalidRequiredAcks,
		OutOfOrderSequenceNumber, DuplicateSequenceNumber, InvalidProducerEpoch, KafkaStorageError, UnknownProducerID,
		FencedLeaderEpoch, UnknownLeaderEpoch, StaleBrokerEpoch, OffsetNotAvailable}
}
