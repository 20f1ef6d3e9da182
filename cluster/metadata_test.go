package cluster

import (
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// TestMetadataOfAnISRThatALeaderChanged: before 0.9 nobody tells the brokers that a leader
// took a follower back into the ISR, so clients hear of an old one until the next decision
// of the controller (KAFKA-1367).
func TestMetadataOfAnISRThatALeaderChanged(t *testing.T) {
	for _, line := range protocol.Lines() {
		isr := protocol.Brokers(0)
		c := newCluster(t, article(line, 1), func(e *trace.Event) {
			if a, ok := e.Body.(*protocol.MetadataAnswer); ok && e.Kind == trace.MessageSent {
				isr = a.Partitions[0].ISR
			}
		})
		do(t, c, StopBrokers{[]protocol.Broker{3}})
		c.RunUntil(c.Now() + 8*sim.Second)
		do(t, c, StartBrokers{[]protocol.Broker{3}})
		c.RunUntil(c.Now() + 15*sim.Second)
		if r := c.Snapshot().Replica(1, 0); r.ISR != protocol.BrokersOf(1, 2, 3) {
			t.Fatalf("%s: broker 3 has not come back into the ISR %s", line, r.ISR)
		}
		do(t, c, AddReader{Name: "R", Partition: topic10, From: protocol.NoOffset, Reset: "earliest"})
		c.RunUntil(c.Now() + sim.Second)
		want := protocol.BrokersOf(1, 2, 3)
		if line == "0.8" {
			want = protocol.BrokersOf(1, 2)
		}
		if isr != want {
			t.Errorf("%s: metadata say that the ISR is %s, want %s", line, isr, want)
		}
	}
}
