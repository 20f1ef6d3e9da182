package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Settings are the configuration of a cluster: Kafka's keys under their own names,
// and those of the world around it. Durations are in microseconds of virtual time.
type Settings struct {
	ReplicaLagTimeMax         int64 // replica.lag.time.max.ms
	ReplicaLagMaxMessages     int64 // replica.lag.max.messages
	ReplicaFetchWaitMax       int64 // replica.fetch.wait.max.ms
	ReplicaFetchBackoff       int64 // replica.fetch.backoff.ms
	ReplicaFetchMaxRecords    int64 // stands for replica.fetch.max.bytes; our records have no size
	ReplicaSocketTimeout      int64 // replica.socket.timeout.ms
	HighWatermarkCheckpoint   int64 // replica.high.watermark.checkpoint.interval.ms
	MinInsyncReplicas         int64 // min.insync.replicas
	UncleanLeaderElection     bool  // unclean.leader.election.enable
	ZooKeeperSessionTimeout   int64 // zookeeper.session.timeout.ms
	ControllerSocketTimeout   int64 // controller.socket.timeout.ms
	ControlledShutdownRetries int64 // controlled.shutdown.max.retries
	ControlledShutdownBackoff int64 // controlled.shutdown.retry.backoff.ms
	AutoLeaderRebalance       bool  // auto.leader.rebalance.enable
	LeaderImbalanceInterval   int64 // leader.imbalance.check.interval.seconds
	LeaderImbalancePercentage int64 // leader.imbalance.per.broker.percentage
	LogFlushIntervalMessages  int64 // log.flush.interval.messages
	RetryBackoff              int64 // retry.backoff.ms, of the clients
	FetchMaxWait              int64 // fetch.max.wait.ms, of the consumer
	MetadataMaxAge            int64 // metadata.max.age.ms, of the clients

	NetworkLatency int64 // network.latency
	NetworkJitter  int64 // network.jitter
	DiskWriteback  int64 // disk.writeback
	DiskFsync      int64 // disk.fsync

	topics []topicSetting // overrides, in the order they were first set
}

type topicSetting struct {
	topic, key string
	value      int64
}

// Setting is one key.
type Setting struct {
	Key     string
	Default string
	Doc     string
	Unit    Unit
	Topic   bool // can be set for one topic
	Static  bool // cannot change while brokers run
	field   func(*Settings) *int64
	flag    func(*Settings) *bool
}

// Unit is how a key's value is written.
type Unit uint8

// The units.
const (
	UnitCount Unit = iota
	UnitMillis
	UnitSeconds
	UnitDuration // with a unit, as in the lab language: 50ms
	UnitBool
)

// never is Kafka's Long.Max: log.flush.interval.messages.
const never = 1<<63 - 1

// SettingTable lists every key that can be set.
var SettingTable = []Setting{
	{Key: "min.insync.replicas", Default: "1", Topic: true, Doc: "acks=all is refused while the ISR is smaller", field: func(s *Settings) *int64 { return &s.MinInsyncReplicas }},
	{Key: "unclean.leader.election.enable", Default: "", Unit: UnitBool, Topic: true, Doc: "a replica outside the ISR may lead when no member is alive; the default depends on the line", flag: func(s *Settings) *bool { return &s.UncleanLeaderElection }},
	{Key: "replica.lag.time.max.ms", Default: "10000", Unit: UnitMillis, Static: true, Doc: "a follower not caught up for this long leaves the ISR", field: func(s *Settings) *int64 { return &s.ReplicaLagTimeMax }},
	{Key: "replica.lag.max.messages", Default: "4000", Static: true, Doc: "a follower more records behind than this leaves the ISR, in the lines before 0.9", field: func(s *Settings) *int64 { return &s.ReplicaLagMaxMessages }},
	{Key: "replica.fetch.wait.max.ms", Default: "500", Unit: UnitMillis, Static: true, Doc: "how long a follower's fetch waits at the leader for data", field: func(s *Settings) *int64 { return &s.ReplicaFetchWaitMax }},
	{Key: "replica.fetch.backoff.ms", Default: "1000", Unit: UnitMillis, Static: true, Doc: "pause of a fetcher after an error", field: func(s *Settings) *int64 { return &s.ReplicaFetchBackoff }},
	{Key: "replica.fetch.max.records", Default: "100", Doc: "records of one partition in one answer to a follower; stands for replica.fetch.max.bytes", Static: true, field: func(s *Settings) *int64 { return &s.ReplicaFetchMaxRecords }},
	{Key: "replica.socket.timeout.ms", Default: "30000", Unit: UnitMillis, Static: true, Doc: "a fetch without an answer is given up", field: func(s *Settings) *int64 { return &s.ReplicaSocketTimeout }},
	{Key: "replica.high.watermark.checkpoint.interval.ms", Default: "5000", Unit: UnitMillis, Static: true, Doc: "how often the HW is written to disk", field: func(s *Settings) *int64 { return &s.HighWatermarkCheckpoint }},
	{Key: "zookeeper.session.timeout.ms", Default: "6000", Unit: UnitMillis, Static: true, Doc: "silence after which ZooKeeper ends a session", field: func(s *Settings) *int64 { return &s.ZooKeeperSessionTimeout }},
	{Key: "controller.socket.timeout.ms", Default: "30000", Unit: UnitMillis, Static: true, Doc: "a controller request without an answer is sent again", field: func(s *Settings) *int64 { return &s.ControllerSocketTimeout }},
	{Key: "controlled.shutdown.max.retries", Default: "3", Static: true, Doc: "tries of a controlled shutdown", field: func(s *Settings) *int64 { return &s.ControlledShutdownRetries }},
	{Key: "controlled.shutdown.retry.backoff.ms", Default: "5000", Unit: UnitMillis, Static: true, Doc: "pause between them", field: func(s *Settings) *int64 { return &s.ControlledShutdownBackoff }},
	{Key: "auto.leader.rebalance.enable", Default: "true", Unit: UnitBool, Static: true, Doc: "the controller moves leadership back to preferred replicas", flag: func(s *Settings) *bool { return &s.AutoLeaderRebalance }},
	{Key: "leader.imbalance.check.interval.seconds", Default: "300", Unit: UnitSeconds, Static: true, Doc: "how often it looks", field: func(s *Settings) *int64 { return &s.LeaderImbalanceInterval }},
	{Key: "leader.imbalance.per.broker.percentage", Default: "10", Static: true, Doc: "imbalance it tolerates", field: func(s *Settings) *int64 { return &s.LeaderImbalancePercentage }},
	{Key: "log.flush.interval.messages", Default: strconv.Itoa(never), Topic: true, Doc: "flush to disk within the append after this many records", field: func(s *Settings) *int64 { return &s.LogFlushIntervalMessages }},
	{Key: "retry.backoff.ms", Default: "100", Unit: UnitMillis, Doc: "a client's pause before it tries again", field: func(s *Settings) *int64 { return &s.RetryBackoff }},
	{Key: "fetch.max.wait.ms", Default: "500", Unit: UnitMillis, Doc: "how long a consumer's fetch waits at the leader for data", field: func(s *Settings) *int64 { return &s.FetchMaxWait }},
	{Key: "metadata.max.age.ms", Default: "300000", Unit: UnitMillis, Doc: "a client asks again who leads when what it knows is this old", field: func(s *Settings) *int64 { return &s.MetadataMaxAge }},
	{Key: "network.latency", Default: "50ms", Unit: UnitDuration, Doc: "one way, every link, ZooKeeper's too", field: func(s *Settings) *int64 { return &s.NetworkLatency }},
	{Key: "network.jitter", Default: "0ms", Unit: UnitDuration, Doc: "a random addition up to this", field: func(s *Settings) *int64 { return &s.NetworkJitter }},
	{Key: "disk.writeback", Default: "30s", Unit: UnitDuration, Doc: "age at which the operating system writes a page to disk by itself", field: func(s *Settings) *int64 { return &s.DiskWriteback }},
	{Key: "disk.fsync", Default: "10ms", Unit: UnitDuration, Doc: "how long a flush takes", field: func(s *Settings) *int64 { return &s.DiskFsync }},
}

// NewSettings is the defaults of a line.
func NewSettings(r *Rules) Settings {
	var s Settings
	for _, k := range SettingTable {
		if k.Default == "" {
			continue
		}
		if err := s.set(k, "", k.Default); err != nil {
			panic("protocol: default of " + k.Key + ": " + err.Error())
		}
	}
	s.UncleanLeaderElection = r.UncleanDefault
	return s
}

// FindSetting finds a key.
func FindSetting(key string) (Setting, bool) {
	for _, k := range SettingTable {
		if k.Key == key {
			return k, true
		}
	}
	return Setting{}, false
}

// Set changes a key, for one topic where topic is not empty. It fails on an unknown
// key, a value that is not of the key's form or out of bounds, and a key that has
// no topic form.
func (s *Settings) Set(topic, key, value string) error {
	k, ok := FindSetting(key)
	if !ok {
		return fmt.Errorf("protocol: no setting %q", key)
	}
	if topic != "" && !k.Topic {
		return fmt.Errorf("protocol: %s cannot be set for one topic", key)
	}
	return s.set(k, topic, value)
}

// maxSetting bounds numbers that people type: a day of microseconds is enough.
const maxSettingMicros = 24 * 3600 * 1000 * 1000

func (s *Settings) set(k Setting, topic, value string) error {
	n, err := k.parse(value)
	if err != nil {
		return err
	}
	if topic != "" {
		for i := range s.topics {
			if t := &s.topics[i]; t.topic == topic && t.key == k.Key {
				t.value = n
				return nil
			}
		}
		s.topics = append(s.topics[:len(s.topics):len(s.topics)], topicSetting{topic, k.Key, n})
		return nil
	}
	if k.Unit == UnitBool {
		*k.flag(s) = n != 0
	} else {
		*k.field(s) = n
	}
	return nil
}

func (k Setting) parse(value string) (int64, error) {
	bad := func(want string) error {
		return fmt.Errorf("protocol: %s takes %s, not %q", k.Key, want, value)
	}
	scale := int64(1)
	switch k.Unit {
	case UnitBool:
		switch value {
		case "true":
			return 1, nil
		case "false":
			return 0, nil
		}
		return 0, bad("true or false")
	case UnitDuration:
		d, err := ParseDuration(value)
		if err != nil || d > maxSettingMicros {
			return 0, bad("a duration such as 50ms, a day at most")
		}
		return d, nil
	case UnitMillis:
		scale = 1000
	case UnitSeconds:
		scale = 1000 * 1000
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("a whole number")
	}
	if scale > 1 {
		if n < 1 || n > maxSettingMicros/scale {
			return 0, bad("a whole number from 1 to a day")
		}
		n *= scale
	}
	if n == 0 && (k.Key == "min.insync.replicas" || k.Key == "log.flush.interval.messages" || k.Key == "replica.fetch.max.records") {
		return 0, bad("a whole number from 1")
	}
	return n, nil
}

// Value is the present value of a key as it would be written, for one topic where topic is not empty.
func (s *Settings) Value(topic, key string) (string, bool) {
	k, ok := FindSetting(key)
	if !ok {
		return "", false
	}
	var n int64
	if k.Unit == UnitBool {
		if *k.flag(s) {
			n = 1
		}
	} else {
		n = *k.field(s)
	}
	if v, ok := s.override(topic, key); ok {
		n = v
	}
	switch k.Unit {
	case UnitBool:
		return strconv.FormatBool(n != 0), true
	case UnitMillis:
		n /= 1000
	case UnitSeconds:
		n /= 1000 * 1000
	case UnitDuration:
		return FormatDuration(n), true
	}
	return strconv.FormatInt(n, 10), true
}

func (s *Settings) override(topic, key string) (int64, bool) {
	for i := range s.topics {
		if t := &s.topics[i]; t.topic == topic && t.key == key {
			return t.value, true
		}
	}
	return 0, false
}

// MinISR, Unclean and FlushMessages are the settings of one topic.
func (s *Settings) MinISR(topic string) int {
	if v, ok := s.override(topic, "min.insync.replicas"); ok {
		return int(v)
	}
	return int(s.MinInsyncReplicas)
}

// Unclean is unclean.leader.election.enable of a topic.
func (s *Settings) Unclean(topic string) bool {
	if v, ok := s.override(topic, "unclean.leader.election.enable"); ok {
		return v != 0
	}
	return s.UncleanLeaderElection
}

// FlushMessages is log.flush.interval.messages of a topic.
func (s *Settings) FlushMessages(topic string) int64 {
	if v, ok := s.override(topic, "log.flush.interval.messages"); ok {
		return v
	}
	return s.LogFlushIntervalMessages
}

// ParseDuration reads a duration of the lab language (500ms, 6s; units us ms s m)
// as microseconds.
func ParseDuration(text string) (int64, error) {
	for _, unit := range []string{"us", "ms", "m", "s"} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok || digits == "" || strings.Trim(digits, "0123456789.") != "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d%time.Microsecond != 0 {
			break
		}
		return int64(d / time.Microsecond), nil
	}
	return 0, fmt.Errorf("protocol: %q is not a duration; expected a number and a unit without a blank, such as 500ms or 6s (units us ms s m)", text)
}

// FormatDuration writes microseconds so that ParseDuration reads them.
func FormatDuration(us int64) string {
	switch {
	case us != 0 && us%(60*1000*1000) == 0:
		return strconv.FormatInt(us/(60*1000*1000), 10) + "m"
	case us != 0 && us%(1000*1000) == 0:
		return strconv.FormatInt(us/(1000*1000), 10) + "s"
	case us%1000 == 0:
		return strconv.FormatInt(us/1000, 10) + "ms"
	}
	return strconv.FormatInt(us, 10) + "us"
}

// HasTopicSettings reports whether any topic overrides a setting.
func (s *Settings) HasTopicSettings() bool { return len(s.topics) > 0 }

// Clone is an independent copy.
func (s *Settings) Clone() *Settings {
	c := *s
	c.topics = append([]topicSetting(nil), s.topics...)
	return &c
}
