package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string
	Event     sim.Seq
	Time      sim.Time
	Partition protocol.Partition
	Text      string
	Excuse    string // why Kafka itself breaks it here; empty: a bug
	OfLine    bool   // the excuse is the release line's, not a fault's or a setting's
}

// Checker watches one run from its first event.
type Checker struct {
	Violations []Violation
	state      trace.Snapshot
	names      *trace.Names
	partitions []ghost
	controller protocol.Epoch
	acksAll    []bool // by value: it was last sent with acks=all
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

// violated notes a violation. In a line that does not uphold the invariant, the event
// at hand is the first cause of what goes wrong from now on.
func (c *Checker) violated(e *trace.Event, name string, p protocol.Partition, format string, args ...any) {
	v := Violation{Invariant: name, Event: e.Seq, Time: e.Time, Partition: p, Text: fmt.Sprintf(format, args...)}
	inv := Find(name)
	if p >= 0 && !inv.Unconditional {
		g := c.ghost(p)
		if g.cause == "" && !inv.HoldsIn(c.state.Line) {
			r := c.state.Replica(e.Node, p)
			g.cause, g.ofLine = ownCause(c.state.Line, e, r != nil && r.LeaderEpoch < g.epoch), true
		}
		if v.Excuse, v.OfLine = g.cause, g.ofLine; v.Excuse == "" && c.beingReassigned(p) {
			v.Excuse = causeReassignment
		}
	}
	c.Violations = append(c.Violations, v)
}

// beingReassigned reports whether a partition is on its way to another assignment.
func (c *Checker) beingReassigned(p protocol.Partition) bool {
	z := c.state.Znode(coord.ReassignPath)
	return z != nil && slices.ContainsFunc(coord.DecodeReassignment(z.Data), func(r coord.Reassignment) bool { return r.Partition == c.state.Partitions[p].Name })
}

// expect tells of an invariant about a replica once, until it holds again.
func (c *Checker) expect(e *trace.Event, holds bool, name string, p protocol.Partition, who, whom sim.NodeID, format string, args ...any) {
	g, b := c.ghost(p), breach{name, who, whom}
	i := slices.Index(g.broken, b)
	switch {
	case holds && i >= 0:
		g.broken = slices.Delete(g.broken, i, i+1)
	case !holds && i < 0:
		g.broken = append(g.broken, b)
		c.violated(e, name, p, format, args...)
	}
}

func (c *Checker) ghost(p protocol.Partition) *ghost {
	for int(p) >= len(c.partitions) {
		c.partitions = append(c.partitions, ghost{})
	}
	return &c.partitions[p]
}

// blame notes what takes Kafka's promise away from a partition.
func (c *Checker) blame(p protocol.Partition, cause string) {
	if g := c.ghost(p); g.cause == "" {
		g.cause = cause
	}
}

// Observe takes an event.
func (c *Checker) Observe(e *trace.Event) {
	c.state.Apply(e)
	switch e.Kind {
	case trace.StatementExecuted:
		if line, ok := strings.CutPrefix(e.Text, "kafka "); ok {
			c.state.Line = protocol.Line(line)
		}
	case trace.LogAppended:
		c.appended(e)
		c.sequences(e)
	case trace.HighWatermarkAdvanced, trace.HighWatermarkLowered, trace.LogRecovered:
		c.highWatermark(e)
	case trace.BecameFollower:
		c.tookRole(e)
	case trace.BecameLeader:
		c.tookRole(e)
		c.becameLeader(e)
	case trace.LogTruncated, trace.LogTailLost, trace.LogRestarted, trace.LogWiped, trace.LogDeleted:
		c.cut(e)
	case trace.LogTrimmed: // what is below the log's start counts as being had
		x := c.ghost(e.Partition).copy(e.Node)
		x.match = max(x.match, e.Offset)
		c.isrs(e)
	case trace.ISRShrunk, trace.ISRExpanded:
		c.isrAgrees(e)
		c.isrs(e)
	case trace.ZnodeCreated, trace.ZnodeChanged:
		switch {
		case strings.HasSuffix(e.Path, "/state"):
			c.stateWritten(e)
		case e.Path == coord.ControllerEpochPath:
			c.controllerEpoch(e)
		}
	case trace.RecordSent:
		c.sent(e)
	case trace.RecordAcked:
		c.acked(e)
	case trace.RecordRead:
		c.read(e)
	}
}

func (c *Checker) appended(e *trace.Event) {
	g := c.ghost(e.Partition)
	g.appended(e.Node, e.Offset, e.Records)
	x := g.copy(e.Node)
	before := protocol.NoEpoch
	if r := c.state.Replica(e.Node, e.Partition); e.Offset > r.LogStart {
		before = r.Records[e.Offset-r.LogStart-1].Epoch
	}
	for i, r := range e.Records {
		at := int(e.Offset) + i
		if r.Epoch < before {
			c.violated(e, LogEpochsRise, e.Partition, "broker %d has epoch %d at offset %d, after epoch %d", e.Node, r.Epoch, at, before)
		}
		before = r.Epoch
		w := written{record: r, blind: x.blind}
		if !x.blind {
			w.prefix = x.prefixes[at]
		}
		c.compare(e, g, at, w)
	}
}

// compare compares a record with those that were appended at its offset before.
func (c *Checker) compare(e *trace.Event, g *ghost, at int, w written) {
	for at >= len(g.written) {
		g.written = append(g.written, nil)
	}
	for _, x := range g.written[at] {
		if x.record.Epoch != w.record.Epoch {
			continue
		}
		switch {
		case x.record.Value != w.record.Value:
			c.violated(e, SameEpochSameValue, e.Partition, "offset %d in epoch %d holds two records", at, w.record.Epoch)
		case x.prefix != w.prefix && !x.blind && !w.blind:
			c.expect(e, false, SameTailSamePrefix, e.Partition, e.Node, 0, "broker %d has epoch %d at offset %d, as another log had, and something else before it", e.Node, w.record.Epoch, at)
		}
		return
	}
	g.written[at] = append(g.written[at], w)
}

func (c *Checker) highWatermark(e *trace.Event) {
	r := c.state.Replica(e.Node, e.Partition)
	if r.HW > r.LEO() || r.HW < 0 {
		c.violated(e, HWWithinLog, e.Partition, "HW %d of broker %d, log end %d", r.HW, e.Node, r.LEO())
		return
	}
	if r.Role == trace.RoleLeader {
		if e.Kind == trace.HighWatermarkLowered {
			c.violated(e, HWRises, e.Partition, "HW of leader %d fell to %d", e.Node, e.HW)
			return
		}
		c.knowsISR(e, r)
		c.commit(e, r)
	}
	g := c.ghost(e.Partition)
	c.expect(e, !g.lacks(e.Node, r.HW), LogMatching, e.Partition, e.Node, 0, "below HW %d broker %d has not what was committed at offset %d", r.HW, e.Node, g.copy(e.Node).match)
	c.isrs(e)
}

// commit takes what a leader has below its HW for committed.
func (c *Checker) commit(e *trace.Event, r *trace.ReplicaState) {
	g := c.ghost(e.Partition)
	for g.lacks(e.Node, r.HW) {
		at := g.copy(e.Node).match
		c.violated(e, CommittedAgrees, e.Partition, "leader %d commits another record at offset %d", e.Node, at)
		g.committed[at] = r.Records[at-r.LogStart]
		for b := range g.copies {
			g.copies[b].match = min(g.copies[b].match, at)
		}
		g.catchUp(r)
	}
	grew := false
	for at := protocol.Offset(len(g.committed)); at < r.HW; at++ {
		if at < r.LogStart {
			continue // trimmed before anybody saw it committed: cannot be
		}
		g.commit(r.Records[at-r.LogStart])
		grew = true
	}
	if !grew {
		return
	}
	for i := range c.state.Replicas {
		if x := &c.state.Replicas[i]; x.Partition == e.Partition {
			g.catchUp(x)
		}
	}
}

// knowsISR: a leader that commits without a member of the ISR in its epoch, because it
// never learned that its own write of that ISR was done, is Kafka's flaw in all lines.
func (c *Checker) knowsISR(e *trace.Event, r *trace.ReplicaState) {
	if g := c.ghost(e.Partition); int(r.LeaderEpoch) < len(g.epochISRs) && g.epochISRs[r.LeaderEpoch]&^r.ISR != 0 {
		c.blame(e.Partition, causeUnknownMember)
	}
}

// tookRole: a restarted broker knows no epoch and takes up whatever it is told first. In
// lines that do not tell its lives apart that may be meant for an earlier one.
func (c *Checker) tookRole(e *trace.Event) {
	g := c.ghost(e.Partition)
	x := g.copy(e.Node)
	again := e.Epoch == x.highest && e.Kind == trace.BecameLeader && int(e.Version) < len(g.isrs)-1
	if (e.Epoch < x.highest || again) && !bounces(c.state.Line) {
		c.blame(e.Partition, causeEarlierLife)
	}
	x.highest = max(x.highest, e.Epoch)
}

// sent notes which records are promised to be committed when they are acknowledged.
func (c *Checker) sent(e *trace.Event) {
	all := c.state.Producer(e.Node).Acks == protocol.AcksAll
	for _, v := range e.Values {
		for int(v) >= len(c.acksAll) {
			c.acksAll = append(c.acksAll, false)
		}
		c.acksAll[v] = all
	}
}

// isrs holds the members of every ISR of a partition against what was committed.
func (c *Checker) isrs(e *trace.Event) {
	g := c.ghost(e.Partition)
	all := protocol.Offset(len(g.committed))
	for b := range g.isr.All {
		n := sim.NodeID(b)
		c.expect(e, !g.lacks(n, all), StrongISR, e.Partition, n, 0, "broker %d is in the ISR without the committed record at offset %d", b, g.copy(n).match)
	}
	for i := range c.state.Replicas {
		r := &c.state.Replicas[i]
		if r.Partition != e.Partition || r.Role != trace.RoleLeader {
			continue
		}
		for b := range r.ISR.All {
			n := sim.NodeID(b)
			c.expect(e, !g.lacks(n, r.HW), WeakISR, e.Partition, r.Broker, n, "broker %d, in the ISR of leader %d, has not what it has at offset %d, below its HW %d", b, r.Broker, g.copy(n).match, r.HW)
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
	c.isrAgrees(e)
	if e.Epoch == g.epoch && g.lacks(e.Node, protocol.Offset(len(g.committed))) { // else the decision was overtaken
		c.violated(e, LeaderComplete, e.Partition, "broker %d leads in epoch %d without the committed record at offset %d", b, e.Epoch, g.copy(e.Node).match)
	}
	c.isrs(e)
}

// isrAgrees holds a leader's ISR against the znode's in the same version.
func (c *Checker) isrAgrees(e *trace.Event) {
	g := c.ghost(e.Partition)
	if v := int(e.Version); v < len(g.isrs) && g.isrs[v] != e.ISR {
		c.violated(e, ISRAgrees, e.Partition, "leader %d has ISR %s at version %d, in which ZooKeeper has %s", e.Node, e.ISR, v, g.isrs[v])
	}
}

// cut follows what a log loses, by truncation or with a disk.
func (c *Checker) cut(e *trace.Event) {
	g := c.ghost(e.Partition)
	to := e.Offset
	if e.Kind == trace.LogWiped || e.Kind == trace.LogDeleted {
		to = 0
	}
	lost := g.copy(e.Node).match - to
	switch e.Kind {
	case trace.LogRestarted:
		g.began(e.Node, to)
	default:
		g.cut(e.Node, to)
	}
	// What is lost with a disk a leader may count all the same, committed or not, in the ISR
	// or not: a fetch that was sent before may be still to arrive.
	switch {
	case e.Kind == trace.LogTailLost:
		c.blame(e.Partition, causePower)
	case e.Kind == trace.LogWiped:
		c.blame(e.Partition, causeWipe)
	case e.Kind == trace.LogTruncated && lost > 0 && g.isr.Has(protocol.Broker(e.Node)):
		c.violated(e, CommittedStays, e.Partition, "broker %d cut %d committed records off, from offset %d on", e.Node, lost, to)
	}
	c.isrs(e)
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
		// The election is known once it is written; the controller hears of it later. The old
		// leader may be alive, alone in its ISR, and commit what the new one will never have.
		if len(g.isrs) > 0 && s.Leader != protocol.NoBroker && !g.isr.Has(s.Leader) {
			c.blame(id, causeUnclean)
		}
		g.epoch, g.isr = max(g.epoch, s.LeaderEpoch), s.ISR
		for int(e.Version) >= len(g.isrs) {
			g.isrs = append(g.isrs, 0)
		}
		g.isrs[e.Version] = s.ISR
		for int(s.LeaderEpoch) >= len(g.epochISRs) {
			g.epochISRs = append(g.epochISRs, 0)
		}
		g.epochISRs[s.LeaderEpoch] = s.ISR
		at := *e
		at.Partition = id
		c.isrs(&at)
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
		if int(v) >= len(c.acksAll) || !c.acksAll[v] {
			continue
		}
		if at < 0 || at >= len(g.committed) || g.committed[at].Value != v {
			c.violated(e, AckedAllCommitted, e.Partition, "offset %d was acknowledged and is not committed", at)
		}
	}
}

func (c *Checker) read(e *trace.Event) {
	g := c.ghost(e.Partition)
	for i, r := range e.Records {
		at := int(e.Offset) + i
		if at >= len(g.committed) || g.committed[at] != r {
			c.violated(e, ReadIsCommitted, e.Partition, "offset %d was read and is not committed", at)
			return
		}
	}
}
