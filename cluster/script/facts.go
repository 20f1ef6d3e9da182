package script

import (
	"maps"
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// facts are what conditions need to know of the past, kept as events come.
type facts struct {
	// readable is when the acting leader's HW first passed a record.
	readable map[protocol.Value]sim.Time
	// passed is how far the present acting leader's HW has been looked at.
	passed map[protocol.Partition]passedHW
	// errors counts what clients were told.
	errors map[clientError]int
	// acks are the times at which a producer was told success.
	acks map[sim.NodeID][]sim.Time
	// wentDown: a reader's position fell.
	wentDown map[sim.NodeID]bool
	// epochs are the leader epochs at the start, the last mark, rewind or lesson step.
	epochs map[protocol.Partition]protocol.Epoch

	parsed map[string]*znodeState // see parseState
}

type passedHW struct {
	leader sim.NodeID
	epoch  protocol.Epoch
	hw     protocol.Offset
}

type clientError struct {
	client sim.NodeID
	err    protocol.Error
}

func newFacts() *facts {
	return &facts{
		readable: map[protocol.Value]sim.Time{},
		passed:   map[protocol.Partition]passedHW{},
		errors:   map[clientError]int{},
		acks:     map[sim.NodeID][]sim.Time{},
		wentDown: map[sim.NodeID]bool{},
		epochs:   map[protocol.Partition]protocol.Epoch{},
		parsed:   map[string]*znodeState{},
	}
}

func (f *facts) clone() *facts {
	c := *f
	c.readable = maps.Clone(f.readable)
	c.passed = maps.Clone(f.passed)
	c.errors = maps.Clone(f.errors)
	c.acks = maps.Clone(f.acks)
	for n, l := range c.acks {
		c.acks[n] = slices.Clip(l)
	}
	c.wentDown = maps.Clone(f.wentDown)
	c.epochs = maps.Clone(f.epochs)
	c.parsed = maps.Clone(f.parsed)
	return &c
}

// before looks at an event while the state is still that before it.
func (f *facts) before(v *view, e *trace.Event) note {
	n := note{event: *e, isr: isrChange{partition: protocol.NoPartition}}
	switch e.Kind {
	case trace.LogTruncated:
		n.cutCommitted = f.cutsCommitted(v, e)
	case trace.ZnodeChanged:
		n.isr = f.changedISR(v, e)
	case trace.ReaderMoved:
		if r := v.state.Reader(e.Node); r != nil && e.Offset < r.Position {
			f.wentDown[e.Node] = true
		}
	case trace.ProduceRefused, trace.RecordFailed, trace.ReaderRefused:
		f.errors[clientError{e.Node, e.Error}]++
	case trace.RecordAcked:
		f.acks[e.Node] = append(f.acks[e.Node], e.Time)
	}
	return n
}

// changedISR is what a znode's change does to an ISR. The controller raises the leader
// epoch with every change it makes; a leader's own changes leave it.
func (f *facts) changedISR(v *view, e *trace.Event) isrChange {
	none := isrChange{partition: protocol.NoPartition}
	p, ok := v.statePath(e.Path)
	z := v.state.Znode(e.Path)
	if !ok || z == nil {
		return none
	}
	was, is := f.parseState(z.Data), f.parseState(e.Text)
	if was == nil || is == nil || was.ISR == is.ISR {
		return none
	}
	c := isrChange{partition: p, leader: is.Leader, was: was.ISR, is: is.ISR}
	if is.LeaderEpoch != was.LeaderEpoch {
		c.leader = protocol.NoBroker
	}
	return c
}

// after looks at an event when the state has it.
func (f *facts) after(v *view, e *trace.Event) {
	switch e.Kind {
	case trace.HighWatermarkAdvanced, trace.BecameLeader, trace.LogAppended:
		f.passHW(v, e.Partition)
	case trace.ZnodeChanged, trace.ZnodeCreated, trace.BrokerThawed:
		for i := range v.state.Partitions {
			f.passHW(v, protocol.Partition(i))
		}
	}
}

// passHW notes which records the acting leader's HW has passed by now.
func (f *facts) passHW(v *view, p protocol.Partition) {
	r := v.acting(p)
	if r == nil {
		return
	}
	was := f.passed[p]
	if was.leader != r.Broker || was.epoch != r.LeaderEpoch {
		was = passedHW{r.Broker, r.LeaderEpoch, r.LogStart}
	}
	was.hw = max(was.hw, r.LogStart) // it may have been trimmed
	for was.hw < min(r.HW, r.LEO()) {
		value := r.Records[was.hw-r.LogStart].Value
		if _, ok := f.readable[value]; !ok {
			f.readable[value] = v.state.Time
		}
		was.hw++
	}
	f.passed[p] = was
}

// cutsCommitted reports whether a truncation cuts off a record that was committed.
func (f *facts) cutsCommitted(v *view, e *trace.Event) bool {
	r := v.state.Replica(e.Node, e.Partition)
	if r == nil {
		return false
	}
	for _, record := range r.Records[min(max(e.Offset-r.LogStart, 0), protocol.Offset(len(r.Records))):] {
		if _, ok := f.readable[record.Value]; ok {
			return true
		}
	}
	return false
}

// rebase makes the present the point from which leader epochs are said to rise.
func (f *facts) rebase(v *view) {
	for i := range v.state.Partitions {
		p := protocol.Partition(i)
		if z := v.znode(p); z != nil {
			f.epochs[p] = z.LeaderEpoch
		}
	}
}

// statePath finds the partition whose state a znode holds.
func (v *view) statePath(path string) (protocol.Partition, bool) {
	for i := range v.state.Partitions {
		if path == statePath(v.state.Partitions[i].Name) {
			return protocol.Partition(i), true
		}
	}
	return protocol.NoPartition, false
}
