package search

import (
	"testing"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// TestSeeds runs a fixed number of seeds over all release lines: no invariant is broken
// for a reason that Kafka itself does not have, and once everything is healed the cluster
// converges. tidemark fuzz runs more.
func TestSeeds(t *testing.T) {
	for _, x := range []struct {
		name string
		draw func(Options, uint64) Schedule
		n    uint64
	}{{"schedules", Draw, 150}, {"walks", Walk, 30}} {
		if testing.Short() {
			x.n /= 10
		}
		for _, line := range protocol.Lines() {
			t.Run(x.name+"/"+string(line), func(t *testing.T) {
				t.Parallel()
				acked, excused := 0, 0
				runner := new(Runner)
				for seed := uint64(1); seed <= x.n; seed++ {
					o := runner.Run(x.draw(Options{Line: line}, seed))
					acked, excused = acked+o.Acked, excused+len(o.Excused)
					if f := o.Failure; f != nil {
						t.Errorf("seed %d: %s is broken at %s (%s): %s\n%s", seed, f.Invariant, f.At, f.Cause, f.Text, o.Lab())
					}
				}
				if acked == 0 {
					t.Error("no record was ever acknowledged: the runs reached nothing")
				}
				t.Logf("%d records acknowledged, %d failures that are Kafka's own", acked, excused)
			})
		}
	}
}

// FuzzSchedule looks for a seed that breaks something, in any line.
func FuzzSchedule(f *testing.F) {
	for i := range protocol.Lines() {
		f.Add(uint64(i), uint8(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, line uint8, walk bool) {
		o := Options{Line: protocol.Lines()[int(line)%len(protocol.Lines())]}
		draw := Draw
		if walk {
			draw = Walk
		}
		s := draw(o, seed)
		runner := new(Runner)
		out := runner.Run(s)
		if out.Failure == nil {
			return
		}
		_, small, _ := Shrink(s, out.Failure, runner.Run, 500)
		t.Errorf("%s: %s\n%s", out.Failure.Invariant, out.Failure.Text, small.Lab())
	})
}

// TestSameSeedSameRun: a run is a function of its options and seed, whoever looks on.
func TestSameSeedSameRun(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		o := Options{Line: protocol.Lines()[seed%uint64(len(protocol.Lines()))]}
		for _, draw := range []func(Options, uint64) Schedule{Draw, Walk} {
			a := new(Runner).Run(draw(o, seed))
			b := (&Runner{Coverage: &Coverage{}}).Run(draw(o, seed))
			c := (&Runner{Unchecked: true}).Run(draw(o, seed))
			if a.Hash != b.Hash || a.Events != b.Events || a.Failure == nil && a.Hash != c.Hash {
				t.Errorf("seed %d: hash %x with %d events, then %x with %d, unchecked %x", seed, a.Hash, a.Events, b.Hash, b.Events, c.Hash)
			}
		}
	}
}

// TestCoverage: the runs of a line reach what the line can do.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of runs")
	}
	// What no line or not this line does, or too rarely to be asked for.
	rare := map[string][]Goal{
		"2.4": {BrokerHalted, LogAnew, CommittedOldISR},
		"0.8": {FetchFenced, FetchFromTheFuture, StaleControl, LogAnew, CommittedOldISR, BrokerHalted},
	}
	for _, line := range []protocol.Line{"0.8", "2.4"} {
		coverage := &Coverage{}
		runner := &Runner{Coverage: coverage}
		for seed := uint64(1); seed <= 150; seed++ {
			runner.Run(Draw(Options{Line: line}, seed))
		}
		for _, g := range Goals() {
			want := true
			for _, r := range rare[string(line)] {
				want = want && r != g
			}
			if want && coverage.Goals[g] == 0 {
				t.Errorf("%s: never reached: %s", line, g)
			}
		}
		if n := coverage.PairsReached(); n < 800 {
			t.Errorf("%s: only %d pairs of kinds of event", line, n)
		}
	}
}

// standard is a schedule of 20 s with three brokers, a crash, a cut, a pause and a steady load.
func standard() Schedule {
	link := cluster.Link{From: "1", To: "3", Both: true}
	s := Schedule{
		Config: cluster.Config{Line: "2.4", Seed: 1, Brokers: []protocol.Broker{1, 2, 3},
			Partitions: []cluster.AddPartition{{Partition: partition(0), Replicas: []protocol.Broker{1, 2, 3}}}},
		Clients: []cluster.Command{cluster.AddProducer{Name: "P", Acks: protocol.AcksAll, Partition: partition(0), Retries: 3, Timeout: 10 * sim.Second, Inflight: 5}},
		Units: []Unit{
			{Crash, 2 * sim.Second, 8 * sim.Second, cluster.StopBrokers{Brokers: []protocol.Broker{1}}, cluster.StartBrokers{Brokers: []protocol.Broker{1}}},
			{CutLink, 12 * sim.Second, 3 * sim.Second, cluster.Cut{Link: link}, cluster.Heal{Link: &link}},
			{Pause, 16 * sim.Second, sim.Second, cluster.Freeze{Brokers: []protocol.Broker{2}}, cluster.Thaw{Brokers: []protocol.Broker{2}}},
		},
		Faults: 20 * sim.Second,
	}
	for i := range 20 {
		s.Units = append(s.Units, Unit{Kind: Burst, At: sim.Time(i) * sim.Second, Begin: cluster.SendNumbered{Producer: "P", Count: 5}})
	}
	return s
}

// BenchmarkRun is the standard schedule and the way to rest after it.
func BenchmarkRun(b *testing.B) {
	s := standard()
	for _, x := range []struct {
		name   string
		runner *Runner
	}{{"unchecked", &Runner{Unchecked: true}}, {"checked", &Runner{}}, {"checked and covered", &Runner{Coverage: &Coverage{}}}} {
		b.Run(x.name, func(b *testing.B) {
			var steps uint64
			for b.Loop() {
				o := x.runner.Run(s)
				if o.Failure != nil || o.Acked == 0 {
					b.Fatalf("%+v", o)
				}
				steps += o.Steps
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
		})
	}
}
