package replica

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/storage"
	"tidemark/cluster/trace"
)

// Partition is one replica and what its broker knows about the partition.
// Kafka: kafka.cluster.Partition and kafka.cluster.Replica.
type Partition struct {
	id              protocol.Partition
	log             *storage.Log
	hw              protocol.Offset
	role            trace.Role
	leader          protocol.Broker
	leaderEpoch     protocol.Epoch // NoEpoch until the first LeaderAndIsr
	controllerEpoch protocol.Epoch // of the controller that made the decision
	zkVersion       int32          // version of the state znode, as far as this leader knows
	replicas        protocol.Replicas
	isr             protocol.Brokers // a leader's; empty while following
	epochStart      protocol.Offset  // LEO at the time of becoming leader
	remotes         []remote         // what a leader knows of the others, in assignment order
	update          isrUpdate
	forgotten       bool  // its HW is left out of the checkpoint file: rule keep-replica-of-dead-leader off
	unflushed       int64 // records appended since the last flush, for log.flush.interval.messages
}

// remote is what a leader knows of a follower. Kafka: kafka.cluster.Replica, the remote kind.
type remote struct {
	id            protocol.Broker
	leo           protocol.Offset // NoOffset until it has fetched
	caughtUpAt    sim.Time        // when it was last known to have the leader's whole log
	lastLeaderLEO protocol.Offset // the leader's LEO at its previous fetch
	lastFetchAt   sim.Time
	leadingSince  sim.Time        // when this leader made the entry
	sentHW        protocol.Offset // the HW it was last sent
}

// longAgo is "never caught up".
const longAgo = -1 << 62

// isrUpdate is a write of the ISR to ZooKeeper under way. Meanwhile the partition is
// locked: Kafka holds its write lock while it waits for ZooKeeper.
type isrUpdate struct {
	active  bool
	expand  bool
	blocked bool  // ZooKeeper was out of reach, and it was told
	number  int64 // of the update: answers to an earlier one are not its own
	isr     protocol.Brokers
}

func (p *Partition) remote(b protocol.Broker) *remote {
	for i := range p.remotes {
		if p.remotes[i].id == b {
			return &p.remotes[i]
		}
	}
	return nil
}

// candidateHW is the least LEO over the replicas that count: itself, the ISR and,
// by rule, assigned replicas that are caught up though not in the ISR.
// Kafka: Partition.maybeIncrementLeaderHW.
func (p *Partition) candidateHW(now sim.Time, c *protocol.Config) protocol.Offset {
	least := p.log.LEO()
	if !c.Rules.HWWaitsForISR {
		return least
	}
	for i := range p.remotes {
		r := &p.remotes[i]
		counts := p.isr.Has(r.id) || c.Rules.HWCountsCaughtUp && now-r.caughtUpAt <= sim.Time(c.Settings.ReplicaLagTimeMax)
		if counts && r.leo < least {
			least = r.leo
		}
	}
	return least
}

// outOfSync is the ISR members that lag too far. Kafka: Partition.getOutOfSyncReplicas.
func (p *Partition) outOfSync(now sim.Time, c *protocol.Config) protocol.Brokers {
	var out protocol.Brokers
	for i := range p.remotes {
		r := &p.remotes[i]
		if !p.isr.Has(r.id) {
			continue
		}
		if c.Rules.ISRLag == protocol.LagByMessages {
			stuck := now-max(r.lastFetchAt, r.leadingSince) > sim.Time(c.Settings.ReplicaLagTimeMax)
			slow := r.leo != protocol.NoOffset && int64(p.log.LEO()-r.leo) > c.Settings.ReplicaLagMaxMessages
			if stuck || slow {
				out = out.With(r.id)
			}
			continue
		}
		if now-r.caughtUpAt <= sim.Time(c.Settings.ReplicaLagTimeMax) {
			continue
		}
		if c.Rules.LagSparesLogEnd && r.leo == p.log.LEO() {
			continue
		}
		out = out.With(r.id)
	}
	return out
}

// mayExpand reports whether a follower that has fetched may join the ISR.
// Kafka: Partition.maybeExpandIsr; the epoch start since KAFKA-7128.
func (p *Partition) mayExpand(r *remote, c *protocol.Config) bool {
	return !p.isr.Has(r.id) && r.leo >= p.hw && (!c.Rules.ExpandAtEpochStart || r.leo >= p.epochStart)
}

// fetched records a follower's position. Kafka: Replica.updateLogReadResult.
func (r *remote) fetched(now sim.Time, offset, leaderLEO protocol.Offset, c *protocol.Config) {
	if offset >= leaderLEO {
		r.caughtUpAt = max(r.caughtUpAt, now)
	} else if c.Rules.CaughtUpByPreviousFetch && offset >= r.lastLeaderLEO {
		r.caughtUpAt = max(r.caughtUpAt, r.lastFetchAt)
	}
	r.leo, r.lastLeaderLEO, r.lastFetchAt = offset, leaderLEO, now
}
