package cluster

import (
	"strings"
	"testing"

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
