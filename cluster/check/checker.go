package check

import (
	"fmt"
	"strconv"
	"strings"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Invariant is one thing that must hold.
type Invariant struct{ Name, Statement string }

// The invariants, by name.
const (
	HWWithinLog        = "hw-within-log"
	HWRises            = "hw-rises"
	LeaderInISR        = "leader-in-isr"
	OneLeaderPerEpoch  = "one-leader-per-epoch"
	EpochsRise         = "epochs-rise"
	CommittedAgrees    = "committed-agrees"
	LeaderComplete     = "leader-complete"
	AckedAllCommitted  = "acked-all-committed"
	ReadIsCommitted    = "read-is-committed"
	SameEpochSameValue = "same-epoch-same-record"
)

// Invariants lists them with their exact statements.
var Invariants = []Invariant{
	{HWWithinLog, "a replica's high watermark is not above its log end"},
	{HWRises, "a leader's high watermark does not fall while it leads in one epoch"},
	{LeaderInISR, "a partition's leader, if there is one, is in the ISR, and the ISR is a subset of the assignment"},
	{OneLeaderPerEpoch, "in one leader epoch only one broker becomes leader of a partition"},
	{EpochsRise, "controller epochs in ZooKeeper rise with every election; leader epochs in ZooKeeper never fall"},
	{CommittedAgrees, "what a leader commits at an offset is what was committed there before"},
	{LeaderComplete, "whoever becomes leader has every committed record"},
	{AckedAllCommitted, "a record acknowledged with acks=all is committed"},
	{ReadIsCommitted, "a consumer gets committed records only"},
	{SameEpochSameValue, "two logs with the same leader epoch at the same offset have the same record there"},
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string
	Event     sim.Seq
	Time      sim.Time
	Partition protocol.Partition
	Text      string
	Excuse    string // why Kafka itself allows it here; empty: a bug
}

// Checker watches one run from its first event.
type Checker struct {
	Violations []Violation
	state      trace.Snapshot
	names      *trace.Names
	partitions []ghost
	controller protocol.Epoch
}

// ghost is what is known of a partition that no broker has to know.
type ghost struct {
	committed []protocol.Record   // everything that was ever below a leader's HW
	written   [][]protocol.Record // by offset: every record ever appended there, one an epoch
	leaders   []protocol.Broker   // by leader epoch; 0: nobody
	epoch     protocol.Epoch      // highest in ZooKeeper
	excuse    string              // the first thing that happened after which Kafka promises nothing
}

// New makes a checker.
func New(names *trace.Names) *Checker { return &Checker{names: names} }

// Use gives the checker the names for its texts, when they are known only later.
func (c *Checker) Use(names *trace.Names) { c.names = names }

// Unexcused is the violations that are bugs.
func (c *Checker) Unexcused() []Violation {
	var l []Violation
	for _, v := range c.Violations {
		if v.Excuse == "" {
			l = append(l, v)
		}
	}
	return l
}

func (c *Checker) violated(e *trace.Event, name string, p protocol.Partition, format string, args ...any) {
	v := Violation{Invariant: name, Event: e.Seq, Time: e.Time, Partition: p, Text: fmt.Sprintf(format, args...)}
	if p >= 0 {
		v.Excuse = c.ghost(p).excuse
	}
	c.Violations = append(c.Violations, v)
}

func (c *Checker) ghost(p protocol.Partition) *ghost {
	for int(p) >= len(c.partitions) {
		c.partitions = append(c.partitions, ghost{})
	}
	return &c.partitions[p]
}

// excuse notes what takes a promise away from a partition.
func (c *Checker) excuse(p protocol.Partition, why string) {
	if g := c.ghost(p); g.excuse == "" {
		g.excuse = why
	}
}

// Observe takes an event.
func (c *Checker) Observe(e *trace.Event) {
	c.state.Apply(e)
	switch e.Kind {
	case trace.LogAppended:
		c.appended(e)
	case trace.HighWatermarkAdvanced, trace.HighWatermarkLowered, trace.LogRecovered:
		c.highWatermark(e)
	case trace.BecameLeader:
		c.becameLeader(e)
	case trace.LogTruncated:
		c.truncated(e)
	case trace.LogTailLost:
		c.excuse(e.Partition, "a power cut lost what was not on disk")
	case trace.LogWiped:
		c.excuse(e.Partition, "a disk was wiped")
	case trace.LeaderElected:
		if e.How == trace.Uncleanly {
			c.excuse(e.Partition, "an unclean election")
		}
	case trace.ZnodeCreated, trace.ZnodeChanged:
		switch {
		case strings.HasSuffix(e.Path, "/state"):
			c.stateWritten(e)
		case e.Path == coord.ControllerEpochPath:
			c.controllerEpoch(e)
		}
	case trace.RecordAcked:
		if p := c.state.Producer(e.Node); p != nil && p.Acks == protocol.AcksAll {
			c.acked(e)
		}
	case trace.RecordRead:
		g := c.ghost(e.Partition)
		for i, r := range e.Records {
			at := int(e.Offset) + i
			if at >= len(g.committed) || g.committed[at] != r {
				c.violated(e, ReadIsCommitted, e.Partition, "offset %d was read and is not committed", at)
			}
		}
	}
}

func (c *Checker) appended(e *trace.Event) {
	g := c.ghost(e.Partition)
	for i, r := range e.Records {
		at := int(e.Offset) + i
		for at >= len(g.written) {
			g.written = append(g.written, nil)
		}
		known := false
		for _, x := range g.written[at] {
			if x.Epoch == r.Epoch {
				known = true
				if x.Value != r.Value {
					c.violated(e, SameEpochSameValue, e.Partition, "offset %d in epoch %d holds two records", at, r.Epoch)
				}
			}
		}
		if !known {
			g.written[at] = append(g.written[at], r)
		}
	}
}

func (c *Checker) highWatermark(e *trace.Event) {
	r := c.state.Replica(e.Node, e.Partition)
	if r.HW > r.LEO() || r.HW < 0 {
		c.violated(e, HWWithinLog, e.Partition, "HW %d of broker %d, log end %d", r.HW, e.Node, r.LEO())
		return
	}
	if r.Role != trace.RoleLeader {
		return
	}
	if e.Kind == trace.HighWatermarkLowered {
		c.violated(e, HWRises, e.Partition, "HW of leader %d fell to %d", e.Node, e.HW)
		return
	}
	g := c.ghost(e.Partition)
	for at := r.LogStart; at < r.HW; at++ {
		rec := r.Records[at-r.LogStart]
		switch {
		case int(at) == len(g.committed):
			g.committed = append(g.committed, rec)
		case g.committed[at] != rec:
			c.violated(e, CommittedAgrees, e.Partition, "leader %d commits another record at offset %d", e.Node, at)
			g.committed[at] = rec
		}
	}
}

func (c *Checker) becameLeader(e *trace.Event) {
	g := c.ghost(e.Partition)
	for int(e.Epoch) >= len(g.leaders) {
		g.leaders = append(g.leaders, 0)
	}
	b := protocol.Broker(e.Node)
	if other := g.leaders[e.Epoch]; other != 0 && other != b {
		c.violated(e, OneLeaderPerEpoch, e.Partition, "brokers %d and %d lead in epoch %d", other, b, e.Epoch)
	}
	g.leaders[e.Epoch] = b
	r := c.state.Replica(e.Node, e.Partition)
	if e.Epoch != g.epoch || r.LogStart != 0 {
		return // a decision that was overtaken already
	}
	for at, rec := range g.committed {
		if at >= len(r.Records) || r.Records[at] != rec {
			c.violated(e, LeaderComplete, e.Partition, "broker %d leads in epoch %d without the committed record at offset %d", b, e.Epoch, at)
			return
		}
	}
}

// truncated: cutting below what is committed takes the promise away where the line cuts
// to the high watermark or to a shorter leader's end.
func (c *Checker) truncated(e *trace.Event) {
	if int(e.Offset) >= len(c.ghost(e.Partition).committed) {
		return
	}
	switch e.How {
	case trace.ToHighWatermark:
		c.excuse(e.Partition, "truncation to the high watermark below what is committed (KIP-101)")
	case trace.ToLeaderEnd:
		c.excuse(e.Partition, "truncation to a shorter leader's log end")
	}
}

func (c *Checker) stateWritten(e *trace.Event) {
	s, err := coord.DecodeState(e.Text)
	if err != nil {
		return
	}
	for p := range c.state.Partitions {
		x := &c.state.Partitions[p]
		if coord.StatePath(x.Name) != e.Path {
			continue
		}
		id := protocol.Partition(p)
		if s.Leader != protocol.NoBroker && !s.ISR.Has(s.Leader) || s.ISR&^x.Replicas.Set() != 0 {
			c.violated(e, LeaderInISR, id, "leader %d, ISR %s, assignment %s", s.Leader, s.ISR, x.Replicas.Set())
		}
		g := c.ghost(id)
		if s.LeaderEpoch < g.epoch {
			c.violated(e, EpochsRise, id, "leader epoch %d after %d", s.LeaderEpoch, g.epoch)
		}
		g.epoch = max(g.epoch, s.LeaderEpoch)
	}
}

func (c *Checker) controllerEpoch(e *trace.Event) {
	n, err := strconv.Atoi(e.Text)
	if err != nil || protocol.Epoch(n) <= c.controller {
		c.violated(e, EpochsRise, protocol.NoPartition, "controller epoch %s after %d", e.Text, c.controller)
		return
	}
	c.controller = protocol.Epoch(n)
}

func (c *Checker) acked(e *trace.Event) {
	g := c.ghost(e.Partition)
	for i, v := range e.Values {
		at := int(e.Offset) + i
		if at < 0 || at >= len(g.committed) || g.committed[at].Value != v {
			c.violated(e, AckedAllCommitted, e.Partition, "offset %d was acknowledged and is not committed", at)
		}
	}
}
