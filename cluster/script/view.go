package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// view is what conditions are evaluated over: the state, and what is remembered of
// how it came about. It is the cluster as seen from the outside.
type view struct {
	state    *trace.Snapshot
	names    *trace.Names
	facts    *facts
	settings func() protocol.Settings
	// violations watches the run again: it is slow.
	violations func() ([]check.Violation, error)
}

// znodeState is the data of a partition's state znode.
type znodeState struct {
	Leader      protocol.Broker
	LeaderEpoch protocol.Epoch
	ISR         protocol.Brokers
}

// partition finds a partition by name.
func (v *view) partition(tp protocol.TopicPartition) (protocol.Partition, bool) {
	for i := range v.state.Partitions {
		if v.state.Partitions[i].Name == tp {
			return protocol.Partition(i), true
		}
	}
	return protocol.NoPartition, false
}

// node finds a node by name.
func (v *view) node(name string) sim.NodeID {
	return sim.NodeID(slices.Index(v.names.Nodes, name))
}

// znode is the partition's state in ZooKeeper, nil while there is none.
func (v *view) znode(p protocol.Partition) *znodeState {
	z := v.state.Znode(statePath(v.state.Partitions[p].Name))
	if z == nil {
		return nil
	}
	return v.facts.parseState(z.Data)
}

// statePath is where a partition's state is in ZooKeeper.
func statePath(tp protocol.TopicPartition) string {
	return "/brokers/topics/" + tp.Topic + "/partitions/" + strconv.Itoa(tp.Index) + "/state"
}

// parseState reads the data of a state znode. It is asked after every step, for
// data that changes seldom.
func (f *facts) parseState(data string) *znodeState {
	if s, ok := f.parsed[data]; ok {
		return s
	}
	var j struct {
		Leader      protocol.Broker   `json:"leader"`
		LeaderEpoch protocol.Epoch    `json:"leader_epoch"`
		ISR         []protocol.Broker `json:"isr"`
	}
	var s *znodeState
	if json.Unmarshal([]byte(data), &j) == nil {
		s = &znodeState{j.Leader, j.LeaderEpoch, protocol.BrokersOf(j.ISR...)}
	}
	if len(f.parsed) > 1000 {
		clear(f.parsed)
	}
	f.parsed[data] = s
	return s
}

// acting is the acting leader's replica: of the broker that the znode names, up, and
// leading in that epoch. It is nil while there is none: a zombie is none.
func (v *view) acting(p protocol.Partition) *trace.ReplicaState {
	z := v.znode(p)
	if z == nil || z.Leader == protocol.NoBroker {
		return nil
	}
	if b := v.state.Broker(sim.NodeID(z.Leader)); b == nil || b.State != trace.ProcessUp {
		return nil
	}
	r := v.state.Replica(sim.NodeID(z.Leader), p)
	if r == nil || r.Role != trace.RoleLeader || r.LeaderEpoch != z.LeaderEpoch {
		return nil
	}
	return r
}

// noLeader says why there is no acting leader.
func (v *view) noLeader(p protocol.Partition) string {
	name := v.state.Partitions[p].Name
	z := v.znode(p)
	switch {
	case z == nil:
		return fmt.Sprintf("%s has no state in ZooKeeper yet", name)
	case z.Leader == protocol.NoBroker:
		return fmt.Sprintf("%s is offline: ZooKeeper names no leader (ISR %s)", name, z.ISR)
	}
	b := v.state.Broker(sim.NodeID(z.Leader))
	if b != nil && b.State != trace.ProcessUp {
		return fmt.Sprintf("%s has no acting leader: ZooKeeper names %d, which is %s", name, z.Leader, processWord(b.State))
	}
	return fmt.Sprintf("%s has no acting leader: ZooKeeper names %d in epoch %d, which does not act as that yet", name, z.Leader, z.LeaderEpoch)
}

// replica is a broker's replica. A broker that is assigned one but has no log has an
// empty one; any other has none.
func (v *view) replica(b protocol.Broker, p protocol.Partition) *trace.ReplicaState {
	if r := v.state.Replica(sim.NodeID(b), p); r != nil {
		return r
	}
	if v.state.Partitions[p].Replicas.Has(b) {
		return &trace.ReplicaState{Broker: sim.NodeID(b), Partition: p, Leader: protocol.NoBroker, LeaderEpoch: protocol.NoEpoch, Checkpoint: protocol.NoOffset}
	}
	return nil
}

// offsetOf is where a log has a value, or NoOffset.
func offsetOf(r *trace.ReplicaState, value protocol.Value) protocol.Offset {
	for i := range r.Records {
		if r.Records[i].Value == value {
			return r.LogStart + protocol.Offset(i)
		}
	}
	return protocol.NoOffset
}

// offset is where a log has a value by its text, or NoOffset.
func (v *view) offset(r *trace.ReplicaState, text string) protocol.Offset {
	value, known := v.names.Values.Find(text)
	if !known {
		return protocol.NoOffset
	}
	return offsetOf(r, value)
}

// holders are the brokers whose logs have a value, stopped ones included.
func (v *view) holders(p protocol.Partition, value protocol.Value, known bool) protocol.Brokers {
	var s protocol.Brokers
	if !known {
		return s
	}
	for i := range v.state.Replicas {
		if r := &v.state.Replicas[i]; r.Partition == p && offsetOf(r, value) != protocol.NoOffset {
			s = s.With(protocol.Broker(r.Broker))
		}
	}
	return s
}

// record is a value's line in the ledger, or nil.
func (v *view) record(value string) *trace.RecordState {
	n, ok := v.names.Values.Find(value)
	if !ok {
		return nil
	}
	return v.state.Record(n)
}

func processWord(s trace.ProcessState) string {
	if s == trace.ProcessOff {
		return "down"
	}
	return s.String()
}
