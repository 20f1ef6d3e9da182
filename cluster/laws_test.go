package cluster

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// article is the article's cluster in a release line.
func article(line protocol.Line, seed uint64) Config {
	return Config{Line: line, Seed: seed, Brokers: []protocol.Broker{1, 2, 3, 4}, Controller: 4,
		Settings: []Set{{Key: "unclean.leader.election.enable", Value: "false"}, {Key: "network.jitter", Value: "20ms"}},
		Partitions: []AddPartition{
			{protocol.TopicPartition{Topic: "topic1", Index: 0}, []protocol.Broker{1, 2, 3}},
			{protocol.TopicPartition{Topic: "topic1", Index: 1}, []protocol.Broker{4, 2, 3}},
		}}
}

// clients are the producers and the reader that every law's run has.
func clients() []Command {
	tp := func(i int) protocol.TopicPartition { return protocol.TopicPartition{Topic: "topic1", Index: i} }
	return []Command{
		AddProducer{Name: "P", Acks: protocol.AcksAll, Partition: tp(0), Retries: 2, Timeout: 5 * sim.Second, Inflight: 5},
		AddProducer{Name: "Q", Acks: 1, Partition: tp(1), Timeout: 30 * sim.Second, Inflight: 1},
		AddReader{Name: "R", Partition: tp(0), From: protocol.NoOffset, Reset: "earliest"},
	}
}

// randomCommand draws something that a person could do. Many are refused, which is
// part of the law: a refused command changes nothing.
func randomCommand(r *rand.Rand) Command {
	b := []protocol.Broker{protocol.Broker(1 + r.IntN(4))}
	nodes := []string{"1", "2", "3", "4", "zookeeper", "P", "R", "I"}
	link := Link{From: nodes[r.IntN(len(nodes))], To: nodes[r.IntN(len(nodes))], Both: r.IntN(2) == 0}
	kinds := protocol.MessageKinds()
	switch r.IntN(32) {
	case 0, 1:
		return StopBrokers{b}
	case 2, 3, 4:
		return StartBrokers{b}
	case 5:
		return PowerOff{Brokers: b, Keep: -1}
	case 6:
		return Freeze{b}
	case 7, 8:
		return Thaw{b}
	case 9:
		return Cut{link}
	case 10, 11:
		return Heal{}
	case 12:
		return Slow{link, sim.Time(r.IntN(3)) * 400 * sim.Millisecond}
	case 13:
		return Hold{link}
	case 14:
		return Release{link}
	case 15:
		return ExpireSession{b}
	case 16:
		return ShutDownBrokers{b}
	case 17:
		return HoldFetches{b}
	case 18:
		return ReleaseFetches{b}
	case 19:
		return Checkpoint{b}
	case 28:
		link.Both = false
		return Deliver{kinds[r.IntN(len(kinds))], link}
	case 20:
		return ElectPreferred{protocol.TopicPartition{Topic: "topic1", Index: r.IntN(2)}}
	case 21:
		return DropNext{protocol.DropClass(1 + r.IntN(3)), link}
	case 22:
		return SlowDisk{b[0], sim.Time(r.IntN(3)) * 300 * sim.Millisecond}
	case 23, 24:
		return Trim{protocol.TopicPartition{Topic: "topic1", Index: r.IntN(2)}, protocol.Offset(r.IntN(30))}
	case 25:
		return ElectUnclean{protocol.TopicPartition{Topic: "topic1", Index: r.IntN(2)}}
	case 26:
		return Set{"topic1", "unclean.leader.election.enable", []string{"true", "false", "false", "false"}[r.IntN(4)]} // rarely: an unclean election excuses much
	case 27:
		return Commit{"R"}
	case 29, 30:
		perm := r.Perm(4)
		var to []protocol.Broker
		for _, i := range perm[:1+r.IntN(4)] {
			to = append(to, protocol.Broker(i+1))
		}
		return Reassign{protocol.TopicPartition{Topic: "topic1", Index: r.IntN(2)}, to}
	}
	return SendNumbered{Producer: []string{"P", "Q", "I"}[r.IntN(3)], Count: 1 + r.IntN(4)}
}

// script is a random run: commands, each after a while.
type scriptLine struct {
	after   sim.Time
	command Command
}

func randomScript(seed uint64, n int) []scriptLine {
	r := rand.New(rand.NewPCG(seed, 1))
	var l []scriptLine
	for range n {
		l = append(l, scriptLine{sim.Time(r.IntN(1500)) * sim.Millisecond, randomCommand(r)})
	}
	return l
}

// play plays a script; advance takes the cluster to a time.
func play(t testing.TB, c *Cluster, script []scriptLine, advance func(*Cluster, sim.Time)) {
	cmds := clients()
	if c.rules.Idempotence != protocol.IdempotenceNone {
		cmds = append(cmds, AddProducer{Name: "I", Acks: protocol.AcksAll, Partition: protocol.TopicPartition{Topic: "topic1", Index: 0},
			Retries: 4, Timeout: 3 * sim.Second, Inflight: 5, Idempotent: true})
	}
	for _, cmd := range cmds {
		if _, err := c.Do(cmd); err != nil {
			t.Fatal(err)
		}
	}
	at := c.Now()
	for _, x := range script {
		at += x.after
		advance(c, at)
		c.Do(x.command) // refused ones change nothing
	}
	advance(c, at+10*sim.Second)
}

func runUntil(c *Cluster, at sim.Time) { c.RunUntil(at) }

func seeds(t testing.TB, f func(t *testing.T, line protocol.Line, seed uint64)) {
	n := uint64(40)
	if testing.Short() {
		n = 3
	}
	for _, line := range protocol.Lines() {
		for seed := uint64(1); seed <= n; seed++ {
			t.(*testing.T).Run(fmt.Sprintf("%s/%d", line, seed), func(t *testing.T) { f(t, line, seed) })
		}
	}
}

func newCluster(t testing.TB, cfg Config, sinks ...func(*trace.Event)) *Cluster {
	t.Helper()
	c, err := New(cfg, sinks...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFoldIsSnapshot is the law of package trace, checked after every step: the fold of
// the events is the snapshot taken from the nodes.
func TestFoldIsSnapshot(t *testing.T) {
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		fold := &trace.Snapshot{Line: line}
		c := newCluster(t, article(line, seed), fold.Apply)
		compare := func() {
			fold.Time = c.Now()
			got, want := fold.AppendJSON(nil, c.Names()), c.Snapshot().AppendJSON(nil, c.Names())
			if !bytes.Equal(got, want) {
				i := 0
				for i < min(len(got), len(want)) && got[i] == want[i] {
					i++
				}
				from := max(i-300, 0)
				t.Fatalf("at event %d the fold differs from the nodes:\nfold  %s\nnodes %s", c.Seq(), got[from:min(i+120, len(got))], want[from:min(i+120, len(want))])
			}
		}
		play(t, c, randomScript(seed, 40), func(c *Cluster, at sim.Time) {
			compare()
			for next, ok := c.Next(); ok && next <= at; next, ok = c.Next() {
				c.Step()
				compare()
			}
			c.RunUntil(at)
		})
	})
}

// TestTimeEndsWhereAsked: running until a time ends there, whatever links are held and
// brokers frozen meanwhile, and a step is taken when it was said to come, or later when what
// was to come then came to nothing.
func TestTimeEndsWhereAsked(t *testing.T) {
	for seed := range uint64(20) {
		c := newCluster(t, article("2.4", seed))
		play(t, c, randomScript(seed, 40), func(c *Cluster, at sim.Time) {
			if next, ok := c.Next(); ok && next <= at {
				if c.StepUntil(at); c.Now() < next || c.Now() > at {
					t.Fatalf("seed %d: a step announced for %s was taken at %s, up to %s", seed, next, c.Now(), at)
				}
			}
			if c.RunUntil(at); c.Now() != at {
				t.Fatalf("seed %d: running until %s ended at %s", seed, at, c.Now())
			}
		})
	}
}

// TestSameRun: two runs in one process, a run taken in random slices and a replay of
// the recording all have the same hash.
func TestSameRun(t *testing.T) {
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		script := randomScript(seed, 40)
		a := newCluster(t, article(line, seed))
		play(t, a, script, runUntil)

		b := newCluster(t, article(line, seed), func(*trace.Event) {}) // observed, which must change nothing
		r := rand.New(rand.NewPCG(seed, 2))
		play(t, b, script, func(c *Cluster, at sim.Time) {
			for c.Now() < at {
				if r.IntN(2) == 0 {
					c.RunUntil(min(at, c.Now()+sim.Time(r.IntN(400_000))))
				} else {
					c.StepUntil(at)
				}
			}
			c.RunUntil(at)
		})
		if a.Hash() != b.Hash() || a.Seq() != b.Seq() {
			t.Errorf("in one go: hash %x, %d events; in slices: hash %x, %d events", a.Hash(), a.Seq(), b.Hash(), b.Seq())
		}
		d, err := Replay(a.Recording(), a.Now())
		if err != nil {
			t.Fatal(err)
		}
		if a.Hash() != d.Hash() || a.Seq() != d.Seq() {
			t.Errorf("run: hash %x, %d events; replay: hash %x, %d events", a.Hash(), a.Seq(), d.Hash(), d.Seq())
		}
	})
}

// TestCloneIsIndependent: a clone goes on exactly as the original does, whichever runs first.
func TestCloneIsIndependent(t *testing.T) {
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		script := randomScript(seed, 40)
		c := newCluster(t, article(line, seed))
		play(t, c, script[:20], runUntil)
		clone := c.Clone()
		goOn := func(c *Cluster) {
			at := c.Now()
			for _, x := range script[20:] {
				at += x.after
				c.RunUntil(at)
				c.Do(x.command)
			}
			c.RunUntil(at + 10*sim.Second)
		}
		goOn(clone)
		goOn(c)
		if c.Hash() != clone.Hash() {
			t.Errorf("original %x, clone %x", c.Hash(), clone.Hash())
		}
		if a, b := c.Snapshot().AppendJSON(nil, c.Names()), clone.Snapshot().AppendJSON(nil, clone.Names()); !bytes.Equal(a, b) {
			t.Error("the states differ")
		}
	})
}
