package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// TestNewClusterIsTheOneAsked: at time 0 every partition has the leader its assignment
// prefers, in its first epoch, with all replicas in the ISR; every follower's fetch has
// just begun to wait at its leader, and nothing else is under way.
func TestNewClusterIsTheOneAsked(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		cfg := Config{Line: protocol.Lines()[r.IntN(len(protocol.Lines()))], Seed: seed}
		for b := range 1 + r.IntN(6) {
			cfg.Brokers = append(cfg.Brokers, protocol.Broker(1+b))
		}
		cfg.Controller = cfg.Brokers[r.IntN(len(cfg.Brokers))]
		for i := range 1 + r.IntN(4) {
			replicas := make([]protocol.Broker, 1+r.IntN(len(cfg.Brokers)))
			for k, b := range r.Perm(len(cfg.Brokers))[:len(replicas)] {
				replicas[k] = cfg.Brokers[b]
			}
			cfg.Partitions = append(cfg.Partitions, AddPartition{protocol.TopicPartition{Topic: fmt.Sprint("t", i/2), Index: i}, replicas})
		}
		c := newCluster(t, cfg)
		s := c.Snapshot()
		for i, want := range cfg.Partitions {
			z := s.Znode(coord.StatePath(want.Partition))
			if z == nil {
				t.Fatalf("seed %d: %s has no state", seed, want.Partition)
			}
			state, _ := coord.DecodeState(z.Data)
			if state.Leader != want.Replicas[0] || state.LeaderEpoch != 0 || z.Version != 0 || state.ISR.Len() != len(want.Replicas) {
				t.Errorf("seed %d: %s has leader %d in epoch %d, version %d, ISR %s", seed, want, state.Leader, state.LeaderEpoch, z.Version, state.ISR)
			}
			for _, b := range want.Replicas[1:] {
				if x := s.Replica(sim.NodeID(b), protocol.Partition(i)); x.Role != trace.RoleFollower {
					t.Errorf("seed %d: %d does not follow in %s", seed, b, want)
				}
			}
		}
		for _, m := range s.Messages {
			if fetch, _ := m.Body.(*protocol.Fetch); fetch == nil {
				t.Errorf("seed %d: a message from %d to %d is under way: %+v", seed, m.From, m.To, m.Body)
			}
		}
		if !c.Settled() {
			t.Errorf("seed %d: not settled", seed)
		}
		answered := false
		c.Observe(func(e *trace.Event) { answered = answered || e.Kind == trace.FetchUnparked })
		c.RunUntil(sim.Time(c.settings.ReplicaFetchWaitMax) - 1)
		if answered {
			t.Errorf("seed %d: a fetch did not wait its whole time from 0", seed)
		}
	}
}

// TestSettledStays: once settled, a cluster that is left alone shows nothing new but
// fetches and pings: no log, high watermark, ISR, leader or session changes. Held, cut
// and frozen parts are not waited for, so such runs do not count.
func TestSettledStays(t *testing.T) {
	settled := 0
	seeds(t, func(t *testing.T, line protocol.Line, seed uint64) {
		cfg := article(line, seed)
		cfg.Settings = append(cfg.Settings, Set{Key: "auto.leader.rebalance.enable", Value: "false"}) // it is periodic
		c := newCluster(t, cfg)
		var news []string
		watch := false
		c.Observe(func(e *trace.Event) {
			switch e.Kind {
			case trace.LogAppended, trace.LogTruncated, trace.HighWatermarkAdvanced, trace.HighWatermarkLowered, trace.SessionExpired,
				trace.BrokerRegistered, trace.BecameLeader, trace.BecameFollower, trace.ISRExpanded, trace.ISRShrunk, trace.RecordAcked, trace.RecordFailed:
				if watch {
					news = append(news, fmt.Sprint(e.Time, " ", e.Kind, " ", e.Node, " ", e.Partition))
				}
			}
		})
		r := rand.New(rand.NewPCG(seed, 4))
		for _, x := range append([]scriptLine{}, randomScript(seed+2000, 12)...) {
			for _, cmd := range clients() {
				c.Do(cmd) // refused after the first time
			}
			c.Do(x.command)
			c.RunUntil(c.Now() + x.after)
			for end := c.Now() + 40*sim.Second; !c.Settled() && c.Now() < end; {
				c.Step()
			}
			if !c.Settled() {
				continue
			}
			if s := c.Snapshot(); waitsForNobody(s) {
				continue
			}
			settled++
			watch = true
			c.RunUntil(c.Now() + 3*sim.Second + sim.Time(r.IntN(1000))*sim.Millisecond)
			watch = false
			if len(news) > 0 {
				t.Fatalf("after %q it was settled, and then came %v\n%s", x.command, news, c.Recording().Lab(c.Now()))
			}
		}
	})
	if settled < 100 {
		t.Errorf("only %d times settled: the runs reached nothing", settled)
	}
}

// waitsForNobody reports whether some part is frozen, held or cut.
func waitsForNobody(s *trace.Snapshot) bool {
	for i := range s.Brokers {
		if b := &s.Brokers[i]; b.State == trace.ProcessFrozen || b.FetchesHeld || b.ControlHeld {
			return true
		}
	}
	for _, l := range s.Links {
		if l.Cut || l.Held {
			return true
		}
	}
	return false
}
