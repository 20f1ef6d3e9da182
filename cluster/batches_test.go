package cluster

import (
	"testing"

	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// checkBatches requires what logs know of idempotent producers to be what those know of
// themselves. It counts what it looked at.
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

// checkEpochs requires the leader epoch caches to be what the logs say: rising in both
// fields, and in effect at every record. (In the lines before KAFKA-7415 a record of an
// epoch that does not fit has no entry.)
func checkEpochs(t *testing.T, c *Cluster) {
	s := c.Snapshot()
	for i := range s.Replicas {
		r := &s.Replicas[i]
		cache := c.machines[r.Broker].Epochs(r.Partition)
		for k := 1; k < len(cache); k++ {
			if cache[k].Epoch <= cache[k-1].Epoch || cache[k].Start < cache[k-1].Start {
				t.Errorf("broker %d has epochs %v of partition %d", r.Broker, cache, r.Partition)
			}
		}
		if !c.rules.EpochCacheRepairs {
			continue
		}
		for k, record := range r.Records {
			at, epoch := r.LogStart+protocol.Offset(k), protocol.NoEpoch
			for _, e := range cache {
				if e.Start <= at {
					epoch = e.Epoch
				}
			}
			if epoch != record.Epoch {
				t.Errorf("broker %d has epoch %d at %d of partition %d, and its cache says %d", r.Broker, record.Epoch, at, r.Partition, epoch)
			}
		}
	}
}

// TestBatches: whatever happens, no invariant is broken for a reason that Kafka has not, and
// what logs know of leader epochs and of idempotent producers is so. (Package search
// heals the cluster, too, and requires it to come to rest.)
func TestBatches(t *testing.T) {
	committed, recognised, numbered := 0, 0, 0
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		checker := check.New(nil)
		c := newCluster(t, article(line, seed), checker.Observe, func(e *trace.Event) {
			switch e.Kind {
			case trace.DuplicateRecognised:
				recognised++
			case trace.RecordAcked:
				committed++
			}
		})
		play(t, c, randomScript(seed+1000, 60), runUntil)
		checkEpochs(t, c)
		if numbered += checkBatches(t, c); t.Failed() {
			t.Log(c.Recording().Lab(c.Now()))
		}
		for _, v := range checker.Unexcused() {
			t.Errorf("%s at event %d (%s): %s\n%s", v.Invariant, v.Event, v.Time, v.Text, c.Recording().Lab(c.Now()))
		}
	})
	if committed == 0 || recognised == 0 || numbered == 0 {
		t.Errorf("%d acknowledgements, %d duplicates recognised, %d records numbered: the runs reached nothing", committed, recognised, numbered)
	}
}
