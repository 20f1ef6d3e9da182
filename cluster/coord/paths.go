package coord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// This file has Kafka's znodes: their paths and their JSON, byte for byte as Kafka
// writes it. Kafka: kafka.zk.ZkData; before 1.1 kafka.utils.ZkUtils.

// The fixed paths.
const (
	ControllerPath        = "/controller"
	ControllerEpochPath   = "/controller_epoch"
	BrokerIDsPath         = "/brokers/ids"
	TopicsPath            = "/brokers/topics"
	ISRChangePath         = "/isr_change_notification"
	PreferredElectionPath = "/admin/preferred_replica_election"
	ProducerIDBlockPath   = "/latest_producer_id_block"
	ReassignPath          = "/admin/reassign_partitions"
)

// BrokerIDPath is a broker's registration.
func BrokerIDPath(b protocol.Broker) string { return BrokerIDsPath + "/" + strconv.Itoa(int(b)) }

// TopicPath is a topic's assignment.
func TopicPath(topic string) string { return TopicsPath + "/" + topic }

// StatePath is a partition's leader and ISR.
func StatePath(tp protocol.TopicPartition) string {
	return TopicsPath + "/" + tp.Topic + "/partitions/" + strconv.Itoa(tp.Index) + "/state"
}

// PartitionsPath is the parent of a topic's partitions.
func PartitionsPath(topic string) string { return TopicsPath + "/" + topic + "/partitions" }

// PartitionPath is the parent of a partition's state.
func PartitionPath(tp protocol.TopicPartition) string {
	return PartitionsPath(tp.Topic) + "/" + strconv.Itoa(tp.Index)
}

// State is the content of a partition's state znode.
type State struct {
	Leader          protocol.Broker
	LeaderEpoch     protocol.Epoch
	ControllerEpoch protocol.Epoch
	ISR             protocol.Brokers
}

// EncodeState writes a state.
func EncodeState(s State) string {
	var isr strings.Builder
	for b := range s.ISR.All {
		if isr.Len() > 0 {
			isr.WriteByte(',')
		}
		isr.WriteString(strconv.Itoa(int(b)))
	}
	return fmt.Sprintf(`{"controller_epoch":%d,"leader":%d,"version":1,"leader_epoch":%d,"isr":[%s]}`,
		s.ControllerEpoch, s.Leader, s.LeaderEpoch, isr.String())
}

// DecodeState reads a state. It fails on anything that is not one.
func DecodeState(data string) (State, error) {
	var x struct {
		ControllerEpoch *protocol.Epoch   `json:"controller_epoch"`
		Leader          *protocol.Broker  `json:"leader"`
		LeaderEpoch     *protocol.Epoch   `json:"leader_epoch"`
		ISR             []protocol.Broker `json:"isr"`
	}
	if err := json.Unmarshal([]byte(data), &x); err != nil {
		return State{}, fmt.Errorf("coord: partition state %q: %w", data, err)
	}
	if x.ControllerEpoch == nil || x.Leader == nil || x.LeaderEpoch == nil {
		return State{}, fmt.Errorf("coord: partition state %q lacks a field", data)
	}
	return State{*x.Leader, *x.LeaderEpoch, *x.ControllerEpoch, protocol.BrokersOf(x.ISR...)}, nil
}

// firstMillis is the time of day, in milliseconds, at which every run begins: the 1st of
// July 2016, when the oldest lines here were current.
const firstMillis = 1467331200000

func millis(now sim.Time) int64 { return firstMillis + int64(now/sim.Millisecond) }

// EncodeController writes /controller.
func EncodeController(b protocol.Broker, now sim.Time) string {
	return fmt.Sprintf(`{"version":1,"brokerid":%d,"timestamp":"%d"}`, b, millis(now))
}

// DecodeController reads it; NoBroker when it cannot.
func DecodeController(data string) protocol.Broker {
	var x struct {
		ID *protocol.Broker `json:"brokerid"`
	}
	if json.Unmarshal([]byte(data), &x) != nil || x.ID == nil {
		return protocol.NoBroker
	}
	return *x.ID
}

// EncodeBroker writes a registration.
func EncodeBroker(b protocol.Broker, now sim.Time) string {
	return fmt.Sprintf(`{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://broker%d:9092"],"jmx_port":-1,"host":"broker%d","timestamp":"%d","port":9092,"version":4}`,
		b, b, millis(now))
}

// EncodeProducerIDBlock writes the block of producer ids that a broker has claimed. Both
// ends belong to it.
func EncodeProducerIDBlock(b protocol.Broker, first, last protocol.ProducerID) string {
	return fmt.Sprintf(`{"version":1,"broker":%d,"block_start":"%d","block_end":"%d"}`, b, first, last)
}

// DecodeProducerIDBlock reads the last id of the block. It fails on anything that is none.
func DecodeProducerIDBlock(data string) (protocol.ProducerID, error) {
	var x struct {
		Last string `json:"block_end"`
	}
	if err := json.Unmarshal([]byte(data), &x); err != nil {
		return 0, fmt.Errorf("coord: producer id block %q: %w", data, err)
	}
	last, err := strconv.ParseInt(x.Last, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("coord: producer id block %q: %w", data, err)
	}
	return protocol.ProducerID(last), nil
}

// EncodeAssignment writes a topic's assignment.
func EncodeAssignment(partitions []protocol.TopicPartition, replicas []protocol.Replicas) string {
	var b strings.Builder
	b.WriteString(`{"version":1,"partitions":{`)
	for i, tp := range partitions {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%d":[`, tp.Index)
		for k := range replicas[i].Len() {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(replicas[i].At(k))))
		}
		b.WriteByte(']')
	}
	return b.String() + "}}"
}

// DecodeAssignment reads it, by partition index.
func DecodeAssignment(data string) (map[string][]protocol.Broker, error) {
	var x struct {
		ByIndex map[string][]protocol.Broker `json:"partitions"`
	}
	if err := json.Unmarshal([]byte(data), &x); err != nil {
		return nil, fmt.Errorf("coord: assignment %q: %w", data, err)
	}
	return x.ByIndex, nil
}

// EncodePartitions writes a list of partitions, as notifications and admin requests have it.
func EncodePartitions(partitions []protocol.TopicPartition) string {
	var b strings.Builder
	b.WriteString(`{"version":1,"partitions":[`)
	for i, tp := range partitions {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"topic":"%s","partition":%d}`, tp.Topic, tp.Index)
	}
	return b.String() + "]}"
}

// DecodePartitions reads it; what cannot be read is no partition.
func DecodePartitions(data string) []protocol.TopicPartition {
	var x struct {
		Partitions []struct {
			Topic     string `json:"topic"`
			Partition int    `json:"partition"`
		} `json:"partitions"`
	}
	if json.Unmarshal([]byte(data), &x) != nil {
		return nil
	}
	var l []protocol.TopicPartition
	for _, p := range x.Partitions {
		l = append(l, protocol.TopicPartition{Topic: p.Topic, Index: p.Partition})
	}
	return l
}

// Reassignment is a partition and the assignment that it is to have.
type Reassignment struct {
	Partition protocol.TopicPartition
	Replicas  []protocol.Broker
}

// EncodeReassignment writes /admin/reassign_partitions.
func EncodeReassignment(l []Reassignment) string {
	var b strings.Builder
	b.WriteString(`{"version":1,"partitions":[`)
	for i, r := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"topic":"%s","partition":%d,"replicas":[`, r.Partition.Topic, r.Partition.Index)
		for k, id := range r.Replicas {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(id)))
		}
		b.WriteString("]}")
	}
	return b.String() + "]}"
}

// DecodeReassignment reads it; what cannot be read is no reassignment.
func DecodeReassignment(data string) []Reassignment {
	var x struct {
		Partitions []struct {
			Topic     string            `json:"topic"`
			Partition int               `json:"partition"`
			Replicas  []protocol.Broker `json:"replicas"`
		} `json:"partitions"`
	}
	if json.Unmarshal([]byte(data), &x) != nil {
		return nil
	}
	var l []Reassignment
	for _, p := range x.Partitions {
		if len(p.Replicas) > 0 && len(p.Replicas) <= protocol.MaxBrokers {
			l = append(l, Reassignment{protocol.TopicPartition{Topic: p.Topic, Index: p.Partition}, p.Replicas})
		}
	}
	return l
}
