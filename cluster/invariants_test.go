package cluster

import (
	"testing"

	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// checkBatches requires the logs of a settled cluster to agree in what they know of
// idempotent producers, and with what those know of themselves. It counts what it looked at.
func checkBatches(t *testing.T, c *Cluster) int {
	looked := 0
	s := c.Snapshot()
	for i := range s.Replicas {
		r := &s.Replicas[i]
		known := map[protocol.Offset]bool{}
		for _, b := range c.machines[r.Broker].Batches(r.Partition) {
			for at := max(b.Base, r.LogStart); at < b.End(); at++ {
				x := s.Record(r.Records[at-r.LogStart].Value)
				known[at] = true
				if seq := b.First + protocol.Sequence(at-b.Base); x.ProducerID != b.Producer || x.Sequence != seq {
					t.Errorf("broker %d has sequence %d of producer id %d at %d of partition %d, its producer knows it as %d of %d",
						r.Broker, seq, b.Producer, at, r.Partition, x.Sequence, x.ProducerID)
				}
			}
		}
		for k, record := range r.Records {
			at := r.LogStart + protocol.Offset(k)
			if x := s.Record(record.Value); x.ProducerID != protocol.NoProducerID && !known[at] {
				t.Errorf("broker %d does not know the sequence number at %d of partition %d", r.Broker, at, r.Partition)
			}
		}
		looked += len(known)
	}
	return looked
}

// TestInvariants runs random faults, then heals everything and requires the cluster to
// come to rest: a safety phase and a liveness phase. A failure prints a file that
// reproduces it with tidemark run.
func TestInvariants(t *testing.T) {
	committed, recognised, numbered := 0, 0, 0
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		checker := check.New(nil)
		// A follower ahead of its leader halts in the old lines, and again after each start:
		// then the cluster never comes to rest, as Kafka's did not.
		halted := false
		c := newCluster(t, article(line, seed), checker.Observe, func(e *trace.Event) {
			halted = halted || e.Kind == trace.BrokerStopped && e.How == trace.Halted
			if e.Kind == trace.DuplicateRecognised {
				recognised++
			}
		})
		play(t, c, randomScript(seed+1000, 60), runUntil)
		for b := range c.shared.Brokers.All {
			switch c.status(b) {
			case sim.Down, sim.Off:
				c.Do(StartBrokers{[]protocol.Broker{b}})
			case sim.Frozen:
				c.Do(Thaw{[]protocol.Broker{b}})
			}
		}
		c.Do(Heal{})
		c.Do(ReleaseFetches{c.shared.Brokers.List()})
		for from := range c.names.Nodes {
			for to := range c.names.Nodes {
				l := Link{From: c.names.Nodes[from], To: c.names.Nodes[to]}
				if l.From != "" && l.To != "" && from != to {
					c.Do(Release{l})
					c.Do(Slow{Link: l})
				}
			}
		}
		if !c.rules.BounceDetection {
			// The old lines do not notice a broker that bounced within its session, and it stays
			// without a role: an operator restarts the brokers one by one.
			for b := range c.shared.Brokers.All {
				c.RunUntil(c.Now() + 10*sim.Second)
				c.Do(StopBrokers{[]protocol.Broker{b}})
				c.RunUntil(c.Now() + 10*sim.Second)
				c.Do(StartBrokers{[]protocol.Broker{b}})
			}
		}
		for end := c.Now() + 120*sim.Second; !c.Settled() && c.Now() < end; {
			c.RunUntil(c.Now() + 500*sim.Millisecond)
			for b := range c.shared.Brokers.All {
				if c.status(b) == sim.Down { // a shutdown that was still under way
					c.Do(StartBrokers{[]protocol.Broker{b}})
				}
			}
		}
		if !c.Settled() && !halted {
			t.Errorf("not settled 120 s after everything was healed\n%s", c.Recording().Lab(c.Now()))
		}
		c.Do(SendNumbered{Producer: "P", Count: 3})
		c.RunUntil(c.Now() + 10*sim.Second)
		acked := 0
		for _, r := range c.Snapshot().Records {
			if r.Fate == trace.Acked {
				acked++
			}
		}
		committed += acked
		if numbered += checkBatches(t, c); t.Failed() {
			t.Log(c.Recording().Lab(c.Now()))
		}
		for _, v := range checker.Unexcused() {
			t.Errorf("%s at event %d (%s): %s\n%s", v.Invariant, v.Event, v.Time, v.Text, c.Recording().Lab(c.Now()))
		}
	})
	if committed == 0 || recognised == 0 || numbered == 0 {
		t.Errorf("%d records were acknowledged, %d duplicates recognised, %d records numbered: the runs reached nothing", committed, recognised, numbered)
	}
}
