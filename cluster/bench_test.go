package cluster

import (
	"runtime"
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// benchCluster is 3 brokers and 3 partitions, each led by another broker and fed by a
// producer with acks=all.
func benchCluster(tb testing.TB, sinks ...func(*trace.Event)) *Cluster {
	cfg := Config{Line: "2.4", Seed: 1, Brokers: []protocol.Broker{1, 2, 3}}
	for i := range 3 {
		b := func(k int) protocol.Broker { return protocol.Broker((i+k)%3 + 1) }
		cfg.Partitions = append(cfg.Partitions, AddPartition{protocol.TopicPartition{Topic: "t", Index: i}, []protocol.Broker{b(0), b(1), b(2)}})
	}
	c := newCluster(tb, cfg, sinks...)
	for i := range 3 {
		name := string(rune('P' + i))
		c.Do(AddProducer{Name: name, Acks: protocol.AcksAll, Partition: protocol.TopicPartition{Topic: "t", Index: i}, Timeout: 30 * sim.Second, Inflight: 5})
		c.Do(Stream{Producer: name, Every: 100 * sim.Millisecond})
	}
	c.RunUntil(2 * sim.Second)
	return c
}

// benchSteps is after how many steps a benchmark begins again. A run has at most
// MaxRecords records, so it does not go on for ever.
const benchSteps = 200_000

// BenchmarkStep is one simulated event (a step) with no observer.
func BenchmarkStep(b *testing.B) {
	first := benchCluster(b)
	c := first.Clone()
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		c.Step()
		if n%benchSteps == 0 {
			c = first.Clone()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}

// BenchmarkStepObserved has the event stream attached: every event written as JSON.
func BenchmarkStepObserved(b *testing.B) {
	var c *Cluster
	var buf []byte
	events := 0
	first := benchCluster(b)
	begin := func() {
		c = first.Clone()
		c.Observe(func(e *trace.Event) {
			buf = e.AppendJSON(buf[:0], c.Names())
			events++
		})
	}
	begin()
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		c.Step()
		if n%benchSteps == 0 {
			begin()
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Msteps/s")
	b.ReportMetric(float64(events)/float64(b.N), "events/step")
}

// BenchmarkClone is a clone of a cluster that has run for 10,000 steps.
func BenchmarkClone(b *testing.B) {
	c := benchCluster(b)
	for range 10_000 {
		c.Step()
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Clone()
	}
}

// heap is how much of it is in use.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkMillionEvents reports the heap of a cluster after a million events.
func BenchmarkMillionEvents(b *testing.B) {
	for b.Loop() {
		before := heap()
		c := benchCluster(b)
		for c.Seq() < 1_000_000 {
			if !c.Step() {
				b.Fatal("nothing happens any more")
			}
		}
		b.ReportMetric((heap()-before)/1e6, "MB/run")
		b.ReportMetric(float64(len(c.ledger.Records)), "records/run")
		runtime.KeepAlive(c)
	}
}

// BenchmarkMemory reports the heap of a cluster, new and after 10,000 steps, and its goroutines.
func BenchmarkMemory(b *testing.B) {
	const n = 200
	goroutines := runtime.NumGoroutine()
	for b.Loop() {
		before := heap()
		l := make([]*Cluster, n)
		for i := range l {
			l[i] = benchCluster(b)
		}
		fresh := heap()
		for _, c := range l {
			for range 10_000 {
				c.Step()
			}
		}
		b.ReportMetric((fresh-before)/n, "B/new")
		b.ReportMetric((heap()-before)/n, "B/10k")
		runtime.KeepAlive(l)
	}
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines), "goroutines")
}
