package search

import (
	"slices"
	"strconv"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Coverage is what many runs have reached. It is no proof of anything, but what was never
// reached was never tested.
type Coverage struct {
	Kinds       [256]uint64    // events, by kind
	Pairs       []uint64       // consecutive kinds of the story, by first and second; see Pair
	ISRSizes    [16]uint64     // written to ZooKeeper, by size
	Epochs      [64]uint64     // leaders, by leader epoch; the last stands for all later ones
	Truncations [32]uint64     // that cut something, by trace.How
	Goals       [goals]uint64  // situations, by Goal
	state       trace.Snapshot // of the run under way
	last        trace.Kind
	written     []coord.State // by partition: what ZooKeeper has
}

// Goal is a situation that a search should reach.
type Goal uint8

// The goals.
const (
	ZombieAppended Goal = iota
	TwoLeaders
	TwoControllers
	HWWaited
	UnknownFollower
	ISRRefused
	ISRBlocked
	ISRSingle
	UncleanElection
	WentOffline
	ControllerMoved
	StaleControl
	FetchFenced
	FetchFromTheFuture
	BelowHW
	AckedCut
	HWFellAtStart
	ExpiredAlive
	RegisteredLate
	PowerLost
	BrokerHalted
	LogAnew
	TooFewReplicas
	CommittedOldISR
	goals
)

var goalNames = [goals]string{
	ZombieAppended:     "zombie leader accepted a write",
	TwoLeaders:         "two brokers led a partition, each as it believed",
	TwoControllers:     "two brokers believed to be controller",
	HWWaited:           "HW waited for an ISR member",
	UnknownFollower:    "leader with an unknown follower LEO accepted a write",
	ISRRefused:         "ISR write refused",
	ISRBlocked:         "ISR write without an answer",
	ISRSingle:          "ISR of one with more assigned",
	UncleanElection:    "unclean election",
	WentOffline:        "partition without a leader",
	ControllerMoved:    "controller failover",
	StaleControl:       "stale control request refused",
	FetchFenced:        "fetch fenced",
	FetchFromTheFuture: "fetch with an epoch its leader did not know yet",
	BelowHW:            "truncation below the old HW",
	AckedCut:           "acknowledged record truncated",
	HWFellAtStart:      "HW fell with a restart",
	ExpiredAlive:       "session of a living process expired",
	RegisteredLate:     "registration refused while the old session lived",
	PowerLost:          "power cut lost records",
	BrokerHalted:       "broker halted because it was ahead of its leader",
	LogAnew:            "log dropped and begun anew",
	TooFewReplicas:     "write refused because the ISR was too small",
	CommittedOldISR:    "leader committed with an ISR that ZooKeeper had changed",
}

func (g Goal) String() string { return goalNames[g] }

// Goals lists them.
func Goals() []Goal {
	l := make([]Goal, goals)
	for i := range l {
		l[i] = Goal(i)
	}
	return l
}

// begin makes ready for the events of another run.
func (c *Coverage) begin() {
	if c.Pairs == nil {
		c.Pairs = make([]uint64, len(c.Kinds)*len(c.Kinds))
	}
	c.state, c.last, c.written = trace.Snapshot{}, 0, nil
}

// Add adds what another has counted.
func (c *Coverage) Add(o *Coverage) {
	add := func(to, from []uint64) {
		for i := range from {
			to[i] += from[i]
		}
	}
	if c.Pairs == nil {
		c.Pairs = make([]uint64, len(c.Kinds)*len(c.Kinds))
	}
	add(c.Kinds[:], o.Kinds[:])
	add(c.Pairs, o.Pairs)
	add(c.ISRSizes[:], o.ISRSizes[:])
	add(c.Epochs[:], o.Epochs[:])
	add(c.Truncations[:], o.Truncations[:])
	add(c.Goals[:], o.Goals[:])
}

// PairsReached counts the pairs of consecutive kinds that came.
func (c *Coverage) PairsReached() int {
	n := 0
	for _, x := range c.Pairs {
		if x > 0 {
			n++
		}
	}
	return n
}

func (c *Coverage) observe(e *trace.Event) {
	c.Kinds[e.Kind]++
	if !e.Kind.Quiet() {
		c.Pairs[int(c.last)*len(c.Kinds)+int(e.Kind)]++
		c.last = e.Kind
	}
	c.before(e)
	c.state.Apply(e)
	c.after(e)
}

func (c *Coverage) reached(g Goal) { c.Goals[g]++ }

// before looks at the state in which something happens.
func (c *Coverage) before(e *trace.Event) {
	r := c.state.Replica(e.Node, e.Partition)
	switch e.Kind {
	case trace.LogTruncated:
		if r == nil || e.Offset >= r.LEO() {
			return
		}
		c.Truncations[e.How]++
		if e.Offset < r.HW {
			c.reached(BelowHW)
		}
		for _, x := range r.Records[max(e.Offset-r.LogStart, 0):] {
			if told := c.state.Record(x.Value); told != nil && told.Fate == trace.Acked {
				c.reached(AckedCut)
				break
			}
		}
	case trace.LogRecovered:
		if r != nil && e.HW < r.HW {
			c.reached(HWFellAtStart)
		}
	case trace.LogTailLost:
		c.reached(PowerLost)
	case trace.HighWatermarkAdvanced:
		if r != nil && r.Role == trace.RoleLeader && r.LeaderEpoch == c.zookeeper(e.Partition).LeaderEpoch && c.zookeeper(e.Partition).ISR != r.ISR {
			c.reached(CommittedOldISR)
		}
	}
}

// after looks at the state to which something led.
func (c *Coverage) after(e *trace.Event) {
	switch e.Kind {
	case trace.ZnodeCreated, trace.ZnodeChanged:
		c.stateWritten(e)
	case trace.LogAppended:
		c.appended(e)
	case trace.BecameLeader:
		c.Epochs[min(int(e.Epoch), len(c.Epochs)-1)]++
		if c.others(e, func(r *trace.ReplicaState) bool { return r.Role == trace.RoleLeader }) {
			c.reached(TwoLeaders)
		}
	case trace.FollowerProgressed:
		if r := c.state.Replica(e.Node, e.Partition); r != nil && e.Offset > r.HW && r.ISR.Has(protocol.Broker(e.Peer)) && c.lags(r, e.Offset) {
			c.reached(HWWaited)
		}
	case trace.ControllerElected:
		if e.ControllerEpoch > 1 {
			c.reached(ControllerMoved)
		}
		for i := range c.state.Brokers {
			if b := &c.state.Brokers[i]; b.ID != e.Node && b.Controller && (b.State == trace.ProcessUp || b.State == trace.ProcessFrozen) {
				c.reached(TwoControllers)
				break
			}
		}
	case trace.SessionExpired:
		if b := c.state.Broker(e.Peer); b != nil && (b.State == trace.ProcessUp || b.State == trace.ProcessFrozen) {
			c.reached(ExpiredAlive)
		}
	case trace.LeaderElected:
		if e.How == trace.Uncleanly {
			c.reached(UncleanElection)
		}
	case trace.FetchRejected:
		switch e.Error {
		case protocol.FencedLeaderEpoch:
			c.reached(FetchFenced)
		case protocol.UnknownLeaderEpoch:
			c.reached(FetchFromTheFuture)
		}
	case trace.BrokerStopped:
		if e.How == trace.Halted {
			c.reached(BrokerHalted)
		}
	case trace.ProduceRefused:
		if e.Error == protocol.NotEnoughReplicas {
			c.reached(TooFewReplicas)
		}
	case trace.ISRUpdateRefused:
		c.reached(ISRRefused)
	case trace.ISRUpdateBlocked:
		c.reached(ISRBlocked)
	case trace.PartitionWentOffline:
		c.reached(WentOffline)
	case trace.ControlRejected:
		c.reached(StaleControl)
	case trace.RegistrationRefused:
		c.reached(RegisteredLate)
	case trace.LogRestarted:
		c.reached(LogAnew)
	}
}

// stateWritten looks at a partition's state in ZooKeeper.
func (c *Coverage) stateWritten(e *trace.Event) {
	for p := range c.state.Partitions {
		x := &c.state.Partitions[p]
		if coord.StatePath(x.Name) != e.Path {
			continue
		}
		s, err := coord.DecodeState(e.Text)
		if err != nil {
			return
		}
		c.ISRSizes[min(s.ISR.Len(), len(c.ISRSizes)-1)]++
		if s.ISR.Len() == 1 && x.Replicas.Set().Len() > 1 {
			c.reached(ISRSingle)
		}
		for len(c.written) <= p {
			c.written = append(c.written, coord.State{})
		}
		c.written[p] = s
		return
	}
}

func (c *Coverage) appended(e *trace.Event) {
	r := c.state.Replica(e.Node, e.Partition)
	if r == nil || r.Role != trace.RoleLeader {
		return
	}
	if r.LeaderEpoch < c.zookeeper(e.Partition).LeaderEpoch {
		c.reached(ZombieAppended)
	}
	for b := range r.ISR.All {
		if sim.NodeID(b) != e.Node && r.FollowerLEO(b) == protocol.NoOffset {
			c.reached(UnknownFollower)
			return
		}
	}
}

// zookeeper is a partition's state in ZooKeeper.
func (c *Coverage) zookeeper(p protocol.Partition) coord.State {
	if int(p) < len(c.written) {
		return c.written[p]
	}
	return coord.State{}
}

// others reports whether another running broker's replica of the partition is so.
func (c *Coverage) others(e *trace.Event, is func(*trace.ReplicaState) bool) bool {
	return slices.ContainsFunc(c.state.Replicas, func(r trace.ReplicaState) bool {
		if r.Partition != e.Partition || r.Broker == e.Node || !is(&r) {
			return false
		}
		b := c.state.Broker(r.Broker)
		return b != nil && (b.State == trace.ProcessUp || b.State == trace.ProcessFrozen)
	})
}

// lags reports whether a leader knows an ISR member that has less than up to an offset.
func (c *Coverage) lags(r *trace.ReplicaState, to protocol.Offset) bool {
	for b := range r.ISR.All {
		if sim.NodeID(b) != r.Broker && r.FollowerLEO(b) < to {
			return true
		}
	}
	return false
}

// EpochName is how a leader epoch is counted.
func EpochName(i int) string {
	if i == len(Coverage{}.Epochs)-1 {
		return strconv.Itoa(i) + "+"
	}
	return strconv.Itoa(i)
}
