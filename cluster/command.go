package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Command is one thing that a person can do to a cluster. Its String is the
// statement of the lab language that does it. Nodes, partitions and settings are
// named as there; [Cluster.Do] checks the names.
type Command interface {
	fmt.Stringer
	// check says why the command cannot be executed now, before anything is changed.
	check(c *Cluster) error
	// apply executes it.
	apply(c *Cluster)
}

// AddPartition creates a partition: topic topic1-0 on 1 2 3.
type AddPartition struct {
	Partition protocol.TopicPartition
	Replicas  []protocol.Broker
}

// AddProducer makes a producer: producer P acks all to topic1-0.
type AddProducer struct {
	Name      string
	Acks      int8 // 0, 1 or protocol.AcksAll
	Partition protocol.TopicPartition
	Retries   int
	Timeout   sim.Time
	Inflight  int
	// Idempotent takes acks all, retries and at most five requests under way.
	Idempotent bool
}

// AddReader makes a consumer: reader R on topic1-0.
type AddReader struct {
	Name      string
	Partition protocol.TopicPartition
	From      protocol.Offset // NoOffset: the earliest
	Reset     string          // auto.offset.reset: "earliest", "latest" or "none"
	Manual    bool
}

// Set changes a setting, for one topic where Topic is not empty.
type Set struct{ Topic, Key, Value string }

// SetAcks changes a producer's acks: set P acks all.
type SetAcks struct {
	Producer string
	Acks     int8
}

// Send gives a producer records: send P "A" "B", or batch P "A" "B".
type Send struct {
	Producer string
	Values   []string
	Batch    bool // one request for all
}

// SendNumbered gives it that many, named by its counter: send P 20.
type SendNumbered struct {
	Producer string
	Count    int
}

// Stream makes it send one every so often; StopStream ends that.
type Stream struct {
	Producer string
	Every    sim.Time
}

// StopStream ends a stream: stop stream P.
type StopStream struct{ Producer string }

// Poll makes a manual consumer poll once.
type Poll struct{ Reader string }

// Seek sets a consumer's position.
type Seek struct {
	Reader string
	Offset protocol.Offset
}

// Commit makes a consumer commit its position.
type Commit struct{ Reader string }

// StopBrokers crashes processes: stop broker 1 2.
type StopBrokers struct{ Brokers []protocol.Broker }

// ShutDownBrokers asks for controlled shutdowns: shut down broker 1.
type ShutDownBrokers struct{ Brokers []protocol.Broker }

// PowerOff cuts the power: power off 1 2 3. With Keep, exactly the first Keep
// records of Partition's log survive, whatever was flushed.
type PowerOff struct {
	Brokers   []protocol.Broker
	Keep      int // −1: what was flushed
	Partition protocol.TopicPartition
}

// Wipe empties the disk of a stopped broker, or removes only its checkpoint file.
type Wipe struct {
	Broker         protocol.Broker
	CheckpointOnly bool
}

// StartBrokers starts processes: start broker 1.
type StartBrokers struct{ Brokers []protocol.Broker }

// Freeze suspends processes, Thaw lets them go on.
type Freeze struct{ Brokers []protocol.Broker }

// Thaw ends a freeze.
type Thaw struct{ Brokers []protocol.Broker }

// Link is a link between two nodes, by name, in one direction or both.
type Link struct {
	From, To string
	Both     bool
}

// Cut cuts a link.
type Cut struct{ Link Link }

// Heal undoes a cut of one link, or of all when Link is nil.
type Heal struct{ Link *Link }

// Isolate cuts a broker from every other and from ZooKeeper.
type Isolate struct{ Broker protocol.Broker }

// Slow adds to the latency of a link; zero ends it.
type Slow struct {
	Link Link
	By   sim.Time
}

// Hold lets nothing arrive on a link, Release ends that.
type Hold struct{ Link Link }

// Release ends a hold of a link.
type Release struct{ Link Link }

// DropNext loses the next message of a class on a link: drop next fetch 2 -> 1. From
// ZooKeeper it is an answer: drop next zookeeper answer to 1.
type DropNext struct {
	Class protocol.DropClass
	Link  Link
}

// SlowDisk lets a broker's appends take so much longer; zero ends it.
type SlowDisk struct {
	Broker protocol.Broker
	By     sim.Time
}

// Deliver lets the next message of a kind arrive now, early or although its link is held:
// deliver next fetch 2 -> 1. Messages on one connection keep their order, so it has to be
// the first one there.
type Deliver struct {
	Message protocol.MessageKind
	Link    Link // one way
}

// HoldFetches makes followers send no further fetch, ReleaseFetches ends that.
type HoldFetches struct{ Brokers []protocol.Broker }

// ReleaseFetches ends a hold of fetches.
type ReleaseFetches struct{ Brokers []protocol.Broker }

// HoldControl makes control requests for a broker wait at the controller,
// ReleaseControl ends that.
type HoldControl struct{ Brokers []protocol.Broker }

// ReleaseControl ends a hold of control requests.
type ReleaseControl struct{ Brokers []protocol.Broker }

// ExpireSession makes ZooKeeper end a broker's session.
type ExpireSession struct{ Brokers []protocol.Broker }

// Flush writes a broker's logs to disk.
type Flush struct{ Brokers []protocol.Broker }

// Checkpoint writes a broker's checkpoint file of high watermarks.
type Checkpoint struct{ Brokers []protocol.Broker }

// ElectPreferred is the admin command of that name.
type ElectPreferred struct{ Partition protocol.TopicPartition }

// ElectUnclean is the admin command of that name (KIP-460).
type ElectUnclean struct{ Partition protocol.TopicPartition }

// Reassign gives a partition another assignment: reassign topic1-0 to 4 2 3. It takes the
// time that the new replicas need to catch up.
type Reassign struct {
	Partition protocol.TopicPartition
	Replicas  []protocol.Broker
}

// Trim moves the log start of a partition, as retention and DeleteRecords do: trim
// topic1-0 to 500.
type Trim struct {
	Partition protocol.TopicPartition
	To        protocol.Offset
}

func acksText(acks int8) string {
	if acks == protocol.AcksAll {
		return "all"
	}
	return strconv.Itoa(int(acks))
}

func ids(brokers []protocol.Broker) string {
	var b strings.Builder
	for _, id := range brokers {
		b.WriteByte(' ')
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}

func (l Link) String() string {
	if l.Both {
		return l.From + " - " + l.To
	}
	return l.From + " -> " + l.To
}

func (x AddPartition) String() string {
	return "topic " + x.Partition.String() + " on" + ids(x.Replicas)
}

func (x AddProducer) String() string {
	s := "producer " + x.Name + " acks " + acksText(x.Acks) + " to " + x.Partition.String()
	if x.Retries != 0 {
		s += " retries " + strconv.Itoa(x.Retries)
	}
	if x.Timeout != DefaultTimeout {
		s += " timeout " + protocol.FormatDuration(int64(x.Timeout))
	}
	if x.Inflight != DefaultInflight {
		s += " inflight " + strconv.Itoa(x.Inflight)
	}
	if x.Idempotent {
		s += " idempotent"
	}
	return s
}

func (x AddReader) String() string {
	s := "reader " + x.Name + " on " + x.Partition.String()
	if x.From != protocol.NoOffset {
		s += " from " + strconv.Itoa(int(x.From))
	}
	if x.Reset != "latest" {
		s += " reset " + x.Reset
	}
	if x.Manual {
		s += " manual"
	}
	return s
}

func (x Set) String() string {
	if x.Topic != "" {
		return "set " + x.Topic + " " + x.Key + " " + x.Value
	}
	return "set " + x.Key + " " + x.Value
}

func (x SetAcks) String() string { return "set " + x.Producer + " acks " + acksText(x.Acks) }

func (x Send) String() string {
	s := "send " + x.Producer
	if x.Batch {
		s = "batch " + x.Producer
	}
	for _, v := range x.Values {
		s += ` "` + v + `"`
	}
	return s
}

func (x SendNumbered) String() string { return "send " + x.Producer + " " + strconv.Itoa(x.Count) }
func (x Stream) String() string {
	return "stream " + x.Producer + " every " + protocol.FormatDuration(int64(x.Every))
}
func (x StopStream) String() string      { return "stop stream " + x.Producer }
func (x Poll) String() string            { return "poll " + x.Reader }
func (x Seek) String() string            { return "seek " + x.Reader + " " + strconv.Itoa(int(x.Offset)) }
func (x Commit) String() string          { return "commit " + x.Reader }
func (x StopBrokers) String() string     { return "stop broker" + ids(x.Brokers) }
func (x ShutDownBrokers) String() string { return "shut down broker" + ids(x.Brokers) }

func (x PowerOff) String() string {
	s := "power off" + ids(x.Brokers)
	if x.Keep >= 0 {
		s += " keeping " + strconv.Itoa(x.Keep) + " of " + x.Partition.String()
	}
	return s
}

func (x Wipe) String() string {
	if x.CheckpointOnly {
		return "wipe checkpoint of" + ids([]protocol.Broker{x.Broker})
	}
	return "wipe" + ids([]protocol.Broker{x.Broker})
}

func (x StartBrokers) String() string { return "start broker" + ids(x.Brokers) }
func (x Freeze) String() string       { return "freeze broker" + ids(x.Brokers) }
func (x Thaw) String() string         { return "thaw broker" + ids(x.Brokers) }
func (x Cut) String() string          { return "cut " + x.Link.String() }

func (x Heal) String() string {
	if x.Link == nil {
		return "heal"
	}
	return "heal " + x.Link.String()
}

func (x Isolate) String() string { return "isolate" + ids([]protocol.Broker{x.Broker}) }
func (x Slow) String() string {
	return "slow " + x.Link.String() + " by " + protocol.FormatDuration(int64(x.By))
}

func (x DropNext) String() string {
	if x.Class == protocol.DropAnswer && x.Link.From == "zookeeper" && !x.Link.Both {
		return "drop next zookeeper answer to " + x.Link.To
	}
	return "drop next " + x.Class.String() + " " + x.Link.String()
}

func (x SlowDisk) String() string {
	return "slow disk of" + ids([]protocol.Broker{x.Broker}) + " by " + protocol.FormatDuration(int64(x.By))
}

func (x Hold) String() string           { return "hold " + x.Link.String() }
func (x Release) String() string        { return "release " + x.Link.String() }
func (x Deliver) String() string        { return "deliver next " + x.Message.String() + " " + x.Link.String() }
func (x HoldFetches) String() string    { return "hold fetches of" + ids(x.Brokers) }
func (x ReleaseFetches) String() string { return "release fetches of" + ids(x.Brokers) }
func (x HoldControl) String() string    { return "hold control to" + ids(x.Brokers) }
func (x ReleaseControl) String() string { return "release control to" + ids(x.Brokers) }
func (x ExpireSession) String() string  { return "expire session of" + ids(x.Brokers) }
func (x Flush) String() string          { return "flush broker" + ids(x.Brokers) }
func (x Checkpoint) String() string     { return "checkpoint broker" + ids(x.Brokers) }
func (x ElectPreferred) String() string { return "elect preferred " + x.Partition.String() }
func (x ElectUnclean) String() string   { return "elect unclean " + x.Partition.String() }

func (x Reassign) String() string {
	return "reassign " + x.Partition.String() + " to" + ids(x.Replicas)
}

func (x Trim) String() string {
	return "trim " + x.Partition.String() + " to " + strconv.Itoa(int(x.To))
}

// DefaultTimeout and DefaultInflight are a producer's, whatever the line.
const (
	DefaultTimeout  = 30 * sim.Second
	DefaultInflight = 5
	// MaxIdempotentInflight is how many requests an idempotent producer may have under way.
	MaxIdempotentInflight = 5
)
