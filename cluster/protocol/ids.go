package protocol

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Broker is a broker id, from 1; NoBroker is Kafka's −1.
type Broker int16

// NoBroker stands for "no leader" and "no controller" (Kafka: LeaderAndIsr.NoLeader).
const NoBroker Broker = -1

// MaxBrokers and MaxPartitions bound a cluster.
const (
	MaxBrokers    = 7
	MaxPartitions = 12
)

// Offset numbers the records of one partition, from 0.
type Offset int64

// NoOffset is Kafka's −1: unknown.
const NoOffset Offset = -1

// Epoch is a leader epoch or a controller epoch.
type Epoch int32

// NoEpoch is Kafka's −1: none known.
const NoEpoch Epoch = -1

// ProducerID is what a broker gives an idempotent producer (Kafka: PID, with 64 bits).
type ProducerID int32

// NoProducerID is Kafka's −1: not idempotent, or none known.
const NoProducerID ProducerID = -1

// Sequence numbers the records that one producer id sends to one partition, from 0.
type Sequence int32

// NoSequence is Kafka's −1: none.
const NoSequence Sequence = -1

// Partition is a partition of the cluster, an index into its [Catalog].
type Partition int16

// NoPartition stands where no partition is meant.
const NoPartition Partition = -1

// Brokers is a set of broker ids. It prints and lists in ascending order.
type Brokers uint16

// BrokersOf makes a set.
func BrokersOf(ids ...Broker) Brokers {
	var s Brokers
	for _, b := range ids {
		s = s.With(b)
	}
	return s
}

// Has, With and Without are membership, union and difference with one broker.
func (s Brokers) Has(b Broker) bool        { return b >= 0 && s>>uint(b)&1 != 0 }
func (s Brokers) With(b Broker) Brokers    { return s | 1<<uint(b) }
func (s Brokers) Without(b Broker) Brokers { return s &^ (1 << uint(b)) }

// Len is the number of members.
func (s Brokers) Len() int { return bits.OnesCount16(uint16(s)) }

// List is the members in ascending order.
func (s Brokers) List() []Broker {
	l := make([]Broker, 0, s.Len())
	for b := range s.All {
		l = append(l, b)
	}
	return l
}

// All iterates over the members in ascending order.
func (s Brokers) All(yield func(Broker) bool) {
	for s != 0 {
		b := Broker(bits.TrailingZeros16(uint16(s)))
		if !yield(b) {
			return
		}
		s = s.Without(b)
	}
}

// String is the members separated by blanks, or "none".
func (s Brokers) String() string {
	if s == 0 {
		return "none"
	}
	var b strings.Builder
	for id := range s.All {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}

// Replicas is a partition's assignment: broker ids whose order decides elections
// (AR; the first is the preferred replica). It is a value: it can be compared and
// copied.
type Replicas struct {
	ids [MaxBrokers]int8
	n   int8
}

// ReplicasOf makes an assignment. It panics when there are more than MaxBrokers.
func ReplicasOf(ids ...Broker) Replicas {
	var r Replicas
	for _, b := range ids {
		r.ids[r.n] = int8(b)
		r.n++
	}
	return r
}

// Append is the assignment with one more broker at its end.
func (r Replicas) Append(b Broker) Replicas {
	r.ids[r.n] = int8(b)
	r.n++
	return r
}

// Len, At and Has are what they say; Set forgets the order.
func (r *Replicas) Len() int          { return int(r.n) }
func (r *Replicas) At(i int) Broker   { return Broker(r.ids[i]) }
func (r *Replicas) Has(b Broker) bool { return r.Set().Has(b) }

// Set is the assignment as a set.
func (r *Replicas) Set() Brokers {
	var s Brokers
	for i := range int(r.n) {
		s = s.With(Broker(r.ids[i]))
	}
	return s
}

// List is the assignment in its order.
func (r *Replicas) List() []Broker {
	l := make([]Broker, r.n)
	for i := range l {
		l[i] = Broker(r.ids[i])
	}
	return l
}

// First is the first broker in the order of the assignment that is in the set, or NoBroker.
func (r *Replicas) First(in Brokers) Broker {
	for i := range int(r.n) {
		if b := Broker(r.ids[i]); in.Has(b) {
			return b
		}
	}
	return NoBroker
}

// Catalog gives partitions their names. It only grows, and only between steps.
type Catalog struct{ names []TopicPartition }

// TopicPartition is a partition by name.
type TopicPartition struct {
	Topic string
	Index int
}

// String is the name as Kafka writes it, topic1-0.
func (tp TopicPartition) String() string { return tp.Topic + "-" + strconv.Itoa(tp.Index) }

// ParseTopicPartition reads topic1-0.
func ParseTopicPartition(s string) (TopicPartition, error) {
	i := strings.LastIndexByte(s, '-')
	if i <= 0 || i == len(s)-1 {
		return TopicPartition{}, fmt.Errorf("protocol: %q is not a partition; expected a name such as topic1-0", s)
	}
	n, err := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || s[i+1:] != strconv.FormatUint(n, 10) {
		return TopicPartition{}, fmt.Errorf("protocol: %q is not a partition; expected a number after the last '-'", s)
	}
	for _, c := range s[:i] {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return TopicPartition{}, fmt.Errorf("protocol: topic name %q: a topic is made of letters, digits, '.', '_' and '-'", s[:i])
		}
	}
	return TopicPartition{s[:i], int(n)}, nil
}

// Add names a new partition.
func (c *Catalog) Add(tp TopicPartition) Partition {
	c.names = append(c.names, tp)
	return Partition(len(c.names) - 1)
}

// Find is the partition with a name, or NoPartition.
func (c *Catalog) Find(tp TopicPartition) Partition {
	return Partition(slices.Index(c.names, tp))
}

// Len is the number of partitions; Name names one.
func (c *Catalog) Len() int                        { return len(c.names) }
func (c *Catalog) Name(p Partition) TopicPartition { return c.names[p] }

// Clone is a catalog that grows by itself.
func (c *Catalog) Clone() *Catalog { return &Catalog{slices.Clip(c.names)} }
