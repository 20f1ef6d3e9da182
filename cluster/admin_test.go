package cluster

import (
	"strings"
	"testing"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

var topic10 = protocol.TopicPartition{Topic: "topic1", Index: 0}

// refused checks that a command cannot be executed now, and why.
func refused(t *testing.T, c *Cluster, cmd Command, why string) {
	t.Helper()
	before := c.Hash()
	if _, err := c.Do(cmd); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %q", cmd, err, why)
	}
	if c.Hash() != before {
		t.Errorf("%s was refused and changed something", cmd)
	}
}

func do(t *testing.T, c *Cluster, cmds ...Command) {
	t.Helper()
	for _, cmd := range cmds {
		if _, err := c.Do(cmd); err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
	}
}

func TestWhatCannotBeTrimmed(t *testing.T) {
	c := newCluster(t, article("2.4", 1))
	play(t, c, nil, runUntil)
	refused(t, c, Trim{protocol.TopicPartition{Topic: "topic2"}, 1}, "there is no partition topic2-0")
	refused(t, c, Trim{topic10, 1}, "can be trimmed up to its HW, which is 0")
	do(t, c, SendNumbered{"P", 3})
	c.RunUntil(c.Now() + 3*sim.Second)
	refused(t, c, Trim{topic10, 4}, "can be trimmed up to its HW, which is 3")
	refused(t, c, Trim{topic10, 0}, "begins at 0 already")
	do(t, c, Trim{topic10, 2})
	refused(t, c, Trim{topic10, 2}, "begins at 2 already")
	do(t, c, StopBrokers{[]protocol.Broker{1}})
	refused(t, c, Trim{topic10, 3}, "nobody acts as leader")
}

func TestWhenNoUncleanElectionIsPossible(t *testing.T) {
	c := newCluster(t, article("2.1", 1))
	refused(t, c, ElectUnclean{topic10}, "came with 2.4 (KIP-460)")
	c = newCluster(t, article("2.4", 1))
	refused(t, c, ElectUnclean{protocol.TopicPartition{Topic: "topic2"}}, "there is no partition topic2-0")
	refused(t, c, ElectUnclean{topic10}, "has a leader, broker 1")
	do(t, c, StopBrokers{[]protocol.Broker{1, 2, 3}})
	c.RunUntil(c.Now() + 8*sim.Second)
	do(t, c, StopBrokers{[]protocol.Broker{4}})
	refused(t, c, ElectUnclean{topic10}, "no controller")
}

func TestWhatCannotBeReassigned(t *testing.T) {
	c := newCluster(t, article("2.4", 1))
	to := func(l ...protocol.Broker) Command { return Reassign{topic10, l} }
	refused(t, c, Reassign{protocol.TopicPartition{Topic: "topic2"}, []protocol.Broker{1}}, "there is no partition topic2-0")
	refused(t, c, to(), "no broker is named")
	refused(t, c, to(1, 1), "named twice")
	refused(t, c, to(1, 5), "there is no broker 5")
	refused(t, c, to(1, 2, 3), "is assigned to 1 2 3 already")
	do(t, c, to(1, 4))
	refused(t, c, to(1, 2), "a reassignment is under way")
}

// TestReassignmentSurvivesControllers kills the controller at every step of a
// reassignment: whoever comes next brings it to its end.
func TestReassignmentSurvivesControllers(t *testing.T) {
	for _, line := range protocol.Lines() {
		c := newCluster(t, article(line, 1))
		do(t, c, Reassign{topic10, []protocol.Broker{1, 4}})
		steps := 0
		for ; c.zookeeper.Exists(coord.ReassignPath); steps++ {
			d := c.Clone()
			b, err := d.controller()
			if err != nil {
				t.Fatal(err)
			}
			do(t, d, StopBrokers{[]protocol.Broker{b}})
			d.RunUntil(d.Now() + 10*sim.Second)
			do(t, d, StartBrokers{[]protocol.Broker{b}})
			d.RunUntil(d.Now() + 40*sim.Second)
			s := d.Snapshot()
			state, err := coord.DecodeState(s.Znode(coord.StatePath(topic10)).Data)
			if err != nil || state.ISR != protocol.BrokersOf(1, 4) || !state.ISR.Has(state.Leader) || s.Partitions[0].Replicas != protocol.ReplicasOf(1, 4) || d.zookeeper.Exists(coord.ReassignPath) {
				t.Fatalf("%s, controller killed at step %d: %+v, assignment %v, %v", line, steps, state, s.Partitions[0].Replicas.List(), err)
			}
			c.Step()
		}
		if steps < 20 {
			t.Errorf("%s: it took only %d steps", line, steps)
		}
		c.RunUntil(c.Now() + 5*sim.Second)
		for _, b := range []sim.NodeID{2, 3} {
			if c.Snapshot().Replica(b, 0) != nil {
				t.Errorf("%s: broker %d still has a log", line, b)
			}
		}
	}
}

// TestReassignmentOfAPartitionWithoutAState: none of its replicas was ever alive, so it is
// made on the new ones.
func TestReassignmentOfAPartitionWithoutAState(t *testing.T) {
	c := newCluster(t, article("2.4", 1))
	do(t, c, StopBrokers{[]protocol.Broker{1}})
	c.RunUntil(c.Now() + 8*sim.Second)
	topic20 := protocol.TopicPartition{Topic: "topic2"}
	do(t, c, AddPartition{topic20, []protocol.Broker{1}})
	c.RunUntil(c.Now() + sim.Second)
	if c.zookeeper.Exists(coord.StatePath(topic20)) {
		t.Fatal("the partition has a state")
	}
	do(t, c, Reassign{topic20, []protocol.Broker{3, 2}})
	c.RunUntil(c.Now() + 5*sim.Second)
	s := c.Snapshot()
	z := s.Znode(coord.StatePath(topic20))
	if z == nil {
		t.Fatal("the partition was not made")
	}
	state, err := coord.DecodeState(z.Data)
	if err != nil || state.Leader != 3 || state.ISR != protocol.BrokersOf(2, 3) || s.Partitions[2].Replicas != protocol.ReplicasOf(3, 2) || c.zookeeper.Exists(coord.ReassignPath) {
		t.Errorf("%+v, assignment %v, %v", state, s.Partitions[2].Replicas.List(), err)
	}
}
