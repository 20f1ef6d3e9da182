package trace

// Kind says what happened. Names are past tense.
type Kind uint8

// field is a set of the fields that events of a kind carry.
type field uint32

const (
	fNode field = 1 << iota
	fPeer
	fPartition
	fOffset
	fHW
	fEpoch
	fControllerEpoch
	fVersion
	fLeader
	fISR
	fReplicas
	fMessage
	fAt
	fSession
	fPath
	fText
	fRecords
	fValues
	fError
	fHow
	fBody
	fAcks
	fProducer
	fSequence
)

// The kinds of event.
const (
	StatementExecuted Kind = iota + 1
	RunBegan
	SettingChanged
	BrokerAdded
	PartitionAdded
	ProducerAdded
	ProducerChanged
	ReaderAdded
	StreamStarted
	StreamStopped

	ProcessStarted
	TimerFired
	MessageSent
	MessageDelivered
	MessageLost
	MessageHeld
	MessageReleased
	ConnectionClosed

	BrokerStarted
	BrokerStopped
	BrokerFrozen
	BrokerThawed
	LinkCut
	LinkHealed
	LinkHeld
	LinkReleased
	LinkSlowed
	DropArmed
	DiskSlowed
	FetchesHeld
	FetchesReleased
	ControlHeld
	ControlReleased

	SessionOpened
	SessionClosed
	SessionExpired
	ZnodeCreated
	ZnodeChanged
	ZnodeDeleted
	AssignmentChanged
	WatchFired
	ZooKeeperConnected
	ZooKeeperDisconnected
	ZooKeeperSessionLost
	BrokerRegistered
	RegistrationRefused

	ControllerElected
	ControllerResigned
	BrokerFailureNoticed
	BrokerStartupNoticed
	LeaderElected
	PartitionWentOffline
	ControllerShrankISR
	LeaderEpochRaised
	ControlRejected

	BecameLeader
	BecameFollower
	ReplicaStopped
	LogCreated
	LogRecovered
	LogAppended
	LogTruncated
	LogTailLost
	LogTrimmed
	LogRestarted
	LogFlushed
	LogWiped
	LogDeleted
	HighWatermarkAdvanced
	HighWatermarkLowered
	HighWatermarkCheckpointed
	CheckpointWiped
	FollowerProgressed
	ISRUpdateSent
	ISRUpdateBlocked
	ISRUpdateRefused
	ISRShrunk
	ISRExpanded
	FetchParked
	FetchUnparked
	ProduceParked
	ProduceUnparked
	FetchRejected

	RecordQueued
	RecordSent
	RecordAcked
	RecordAssumed
	RecordFailed
	ProduceRefused
	ProducerIDAssigned
	ProducerIDDropped
	DuplicateRecognised
	LeaderLearned
	RecordRead
	ReadNothing
	ReaderMoved
	ReaderRefused
	PositionCommitted

	kindEnd
)

// KindInfo documents a kind.
type KindInfo struct {
	Name   string
	Doc    string
	fields field
	quiet  bool // machinery, not a step of the story
}

var kinds = [kindEnd]KindInfo{
	StatementExecuted: {"statement_executed", "a statement of the lab language was executed", fText, false},
	RunBegan:          {"run_began", "the initial settling is over; this is time 0 of a script", 0, false},
	SettingChanged:    {"setting_changed", "a setting has a new value", fPath | fText, false},
	BrokerAdded:       {"broker_added", "a broker belongs to the cluster", fNode, false},
	PartitionAdded:    {"partition_added", "a partition was created with an assignment", fPartition | fReplicas, false},
	ProducerAdded:     {"producer_added", "a producer was made", fNode | fPartition | fAcks | fHow, false},
	ProducerChanged:   {"producer_changed", "a producer's acks changed", fNode | fAcks, false},
	ReaderAdded:       {"reader_added", "a consumer was made", fNode | fPartition | fOffset | fHow, false},
	StreamStarted:     {"stream_started", "a producer sends a record every so often", fNode | fAt, false},
	StreamStopped:     {"stream_stopped", "it stopped doing so", fNode, false},

	ProcessStarted:   {"process_started", "a node's process runs", fNode, true},
	TimerFired:       {"timer_fired", "a node's timer went off and something came of it", fNode, true},
	MessageSent:      {"message_sent", "a message is on its way and will arrive at the given time", fNode | fPeer | fMessage | fAt | fBody, true},
	MessageDelivered: {"message_delivered", "a message arrived", fNode | fPeer | fMessage, true},
	MessageLost:      {"message_lost", "a message will not arrive", fNode | fPeer | fMessage | fHow, false},
	MessageHeld:      {"message_held", "a message waits at the end of a held link", fNode | fPeer | fMessage, false},
	MessageReleased:  {"message_released", "a held message goes on", fNode | fPeer | fMessage | fAt, false},
	ConnectionClosed: {"connection_closed", "a node saw a connection closed by its peer", fNode | fPeer, true},

	BrokerStarted:   {"broker_started", "a broker's process was started", fNode, false},
	BrokerStopped:   {"broker_stopped", "a broker's process ended", fNode | fHow, false},
	BrokerFrozen:    {"broker_frozen", "a broker's process was suspended", fNode, false},
	BrokerThawed:    {"broker_thawed", "a suspended broker goes on", fNode | fAt, false},
	LinkCut:         {"link_cut", "a direction of a link is cut", fNode | fPeer, false},
	LinkHealed:      {"link_healed", "a direction of a link carries messages again", fNode | fPeer, false},
	LinkHeld:        {"link_held", "nothing arrives on a direction of a link", fNode | fPeer, false},
	LinkReleased:    {"link_released", "a held direction of a link delivers again", fNode | fPeer, false},
	LinkSlowed:      {"link_slowed", "a direction of a link has this added delay", fNode | fPeer | fAt, false},
	DropArmed:       {"drop_armed", "the next message of a class (text) in a direction of a link will be lost", fNode | fPeer | fText, false},
	DiskSlowed:      {"disk_slowed", "appends at a broker take this much longer", fNode | fAt, false},
	FetchesHeld:     {"fetches_held", "a follower sends no further fetch", fNode, false},
	FetchesReleased: {"fetches_released", "a follower fetches again", fNode, false},
	ControlHeld:     {"control_held", "control requests for a broker wait at the controller", fNode, false},
	ControlReleased: {"control_released", "they are sent again", fNode, false},

	SessionOpened:         {"session_opened", "ZooKeeper opened a session for a broker", fNode | fPeer | fSession | fAt, false},
	SessionClosed:         {"session_closed", "a broker closed its session", fNode | fPeer | fSession, false},
	SessionExpired:        {"session_expired", "ZooKeeper ended a session that was silent too long", fNode | fPeer | fSession, false},
	ZnodeCreated:          {"znode_created", "a znode was created; session is its owner if it is ephemeral", fPath | fText | fSession | fVersion, false},
	ZnodeChanged:          {"znode_changed", "a znode has new data", fPath | fText | fVersion, false},
	ZnodeDeleted:          {"znode_deleted", "a znode is gone", fPath, false},
	AssignmentChanged:     {"assignment_changed", "a topic's znode has another assignment for a partition", fPartition | fReplicas, false},
	WatchFired:            {"watch_fired", "a one-shot watch of a broker was triggered", fPeer | fPath | fText, true},
	ZooKeeperConnected:    {"zookeeper_connected", "a broker has a session", fNode | fSession, true},
	ZooKeeperDisconnected: {"zookeeper_disconnected", "a broker lost its connection to ZooKeeper", fNode, false},
	ZooKeeperSessionLost:  {"zookeeper_session_lost", "a broker learned that its session had expired", fNode, false},
	BrokerRegistered:      {"broker_registered", "a broker's registration znode is its own", fNode, false},
	RegistrationRefused:   {"registration_refused", "a broker's registration failed because its old session still lives", fNode, false},

	ControllerElected:    {"controller_elected", "a broker won the controller election", fNode | fControllerEpoch, false},
	ControllerResigned:   {"controller_resigned", "a broker stopped being controller", fNode, false},
	BrokerFailureNoticed: {"broker_failure_noticed", "the controller noticed that a broker is gone", fNode | fPeer, false},
	BrokerStartupNoticed: {"broker_startup_noticed", "the controller noticed a new broker", fNode | fPeer, false},
	LeaderElected:        {"leader_elected", "the controller elected a leader", fNode | fPartition | fLeader | fEpoch | fISR | fHow, false},
	PartitionWentOffline: {"partition_went_offline", "no replica can lead", fNode | fPartition | fISR, false},
	ControllerShrankISR:  {"controller_shrank_isr", "the controller removed a broker from an ISR", fNode | fPartition | fISR | fEpoch, false},
	LeaderEpochRaised:    {"leader_epoch_raised", "the controller began a new leader epoch with the same leader, because the assignment is another", fNode | fPartition | fLeader | fEpoch | fReplicas, false},
	ControlRejected:      {"control_rejected", "a broker refused a controller's request", fNode | fPeer | fError, false},

	BecameLeader:              {"became_leader", "a replica acts as leader", fNode | fPartition | fEpoch | fISR | fReplicas | fVersion, false},
	BecameFollower:            {"became_follower", "a replica follows a leader", fNode | fPartition | fLeader | fEpoch, false},
	ReplicaStopped:            {"replica_stopped", "a replica neither leads nor follows any more", fNode | fPartition, false},
	LogCreated:                {"log_created", "a broker has a log for a partition", fNode | fPartition, true},
	LogRecovered:              {"log_recovered", "a starting broker found a log on its disk, and its HW", fNode | fPartition | fOffset | fHW, false},
	LogAppended:               {"log_appended", "records were appended to a log", fNode | fPartition | fOffset | fRecords, false},
	LogTruncated:              {"log_truncated", "the end of a log was cut off; offset is the new log end", fNode | fPartition | fOffset | fHow, false},
	LogTailLost:               {"log_tail_lost", "what was not on disk is gone; offset is the new log end", fNode | fPartition | fOffset, false},
	LogTrimmed:                {"log_trimmed", "the beginning of a log was dropped; offset is the new log start", fNode | fPartition | fOffset, false},
	LogRestarted:              {"log_restarted", "a log was dropped and begins anew at the offset, where the leader's begins", fNode | fPartition | fOffset, false},
	LogFlushed:                {"log_flushed", "a log is on disk below the offset", fNode | fPartition | fOffset, true},
	LogWiped:                  {"log_wiped", "a log is gone with its disk", fNode | fPartition, false},
	LogDeleted:                {"log_deleted", "a broker deleted a log that is assigned to it no longer", fNode | fPartition, false},
	HighWatermarkAdvanced:     {"high_watermark_advanced", "a replica's high watermark rose", fNode | fPartition | fHW, false},
	HighWatermarkLowered:      {"high_watermark_lowered", "a replica's high watermark fell", fNode | fPartition | fHW, false},
	HighWatermarkCheckpointed: {"high_watermark_checkpointed", "a high watermark was written to disk", fNode | fPartition | fHW, true},
	CheckpointWiped:           {"checkpoint_wiped", "the checkpoint file of high watermarks is gone", fNode, false},
	FollowerProgressed:        {"follower_progressed", "a leader learned from a fetch how far a follower got", fNode | fPeer | fPartition | fOffset, false},
	ISRUpdateSent:             {"isr_update_sent", "a leader wants to write a new ISR to ZooKeeper", fNode | fPartition | fISR, true},
	ISRUpdateBlocked:          {"isr_update_blocked", "ZooKeeper does not answer a leader's ISR write", fNode | fPartition | fISR, false},
	ISRUpdateRefused:          {"isr_update_refused", "a leader's ISR write met another version", fNode | fPartition | fISR, false},
	ISRShrunk:                 {"isr_shrunk", "a leader took lagging followers out of the ISR", fNode | fPartition | fISR | fVersion, false},
	ISRExpanded:               {"isr_expanded", "a leader took a caught-up follower into the ISR", fNode | fPartition | fISR | fVersion, false},
	FetchParked:               {"fetch_parked", "a fetch waits at the leader for data", fNode | fPeer | fMessage, true},
	FetchUnparked:             {"fetch_unparked", "it waits no longer", fNode | fPeer | fMessage, true},
	ProduceParked:             {"produce_parked", "a produce request waits for the HW to reach the offset", fNode | fPeer | fPartition | fOffset | fMessage, false},
	ProduceUnparked:           {"produce_unparked", "it waits no longer", fNode | fPeer | fMessage, true},
	FetchRejected:             {"fetch_rejected", "a leader refused a fetch", fNode | fPeer | fPartition | fError, false},

	RecordQueued:   {"record_queued", "a producer has records to send", fNode | fPartition | fValues, false},
	RecordSent:     {"record_sent", "a producer wrote records to the socket", fNode | fPeer | fPartition | fValues | fMessage | fProducer | fSequence, false},
	RecordAcked:    {"record_acked", "a producer was told success", fNode | fPartition | fOffset | fValues, false},
	RecordAssumed:  {"record_assumed", "acks=0: a producer takes success for granted", fNode | fPartition | fValues, false},
	RecordFailed:   {"record_failed", "a producer gave up", fNode | fPartition | fValues | fError, false},
	ProduceRefused: {"produce_refused", "a producer got an error for a request", fNode | fPeer | fPartition | fValues | fError, false},
	LeaderLearned:  {"leader_learned", "a client learned who leads", fNode | fPartition | fLeader | fEpoch, false},
	RecordRead:     {"record_read", "a consumer got records", fNode | fPartition | fOffset | fRecords, false},
	ReadNothing:    {"read_nothing", "a consumer's fetch came back empty", fNode | fPartition, true},
	ReaderMoved:    {"reader_moved", "a consumer's position was set", fNode | fPartition | fOffset | fHow, false},
	ReaderRefused:  {"reader_refused", "a consumer got an error", fNode | fPartition | fError, false},

	ProducerIDAssigned:  {"producer_id_assigned", "an idempotent producer has a producer id", fNode | fProducer, false},
	ProducerIDDropped:   {"producer_id_dropped", "an idempotent producer gives up its producer id: it cannot know what was stored under it", fNode | fProducer, false},
	DuplicateRecognised: {"duplicate_recognised", "a leader knew a batch again that is in its log, from the offset on, and did not append it", fNode | fPeer | fPartition | fOffset | fValues, false},
	PositionCommitted:   {"position_committed", "a consumer committed its position", fNode | fPartition | fOffset, false},
}

// Info documents a kind.
func (k Kind) Info() KindInfo { return kinds[k] }

// String is the kind's name.
func (k Kind) String() string { return kinds[k].Name }

// Quiet reports whether events of the kind are machinery rather than a step of the story.
func (k Kind) Quiet() bool { return kinds[k].quiet }

// Kinds lists every kind.
func Kinds() []Kind {
	var l []Kind
	for k := Kind(1); k < kindEnd; k++ {
		l = append(l, k)
	}
	return l
}

// How is a variant of a kind.
type How uint8

// The variants.
const (
	HowNone How = iota
	// of message_lost
	ByCut
	ByCrash
	ByOldLife
	ByDrop
	// of broker_stopped
	Crashed
	LostPower
	ShutDown
	Halted
	// of leader_elected
	Initially
	Cleanly
	Uncleanly
	Preferred
	ForShutdown
	// of log_truncated
	ToHighWatermark
	ToEpochEnd
	ToLeaderEnd
	// of reader_added and reader_moved
	Automatic
	Manual
	BySeek
	ByReset
	// of producer_added
	Idempotent
	// of leader_elected
	ForReassignment
)

var hows = [...]string{"", "cut", "crash", "old life", "drop", "crash", "power", "shutdown", "halt",
	"initial", "clean", "unclean", "preferred", "shutdown", "high watermark", "epoch end", "leader end",
	"automatic", "manual", "seek", "reset", "idempotent", "reassignment"}

func (h How) String() string { return hows[h] }

// fieldNames are the fields as JSON has them, by bit.
var fieldNames = [...]string{"node", "peer", "partition", "offset", "hw", "epoch", "controllerEpoch", "version", "leader", "isr", "replicas",
	"message", "at", "session", "path", "text", "values, epochs", "values", "error", "how", "what, parts", "acks", "producerId", "sequence"}

// Fields lists the fields that events of the kind carry, as JSON names them.
func (i KindInfo) Fields() []string {
	var l []string
	for bit, name := range fieldNames {
		if i.fields>>bit&1 != 0 {
			l = append(l, name)
		}
	}
	return l
}
