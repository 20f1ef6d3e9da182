package controller

import (
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// task is one piece of handling an event. Its phase says how far it is; phases are
// counted per kind, and end with done.
type task struct {
	kind       taskKind
	phase      int
	broker     protocol.Broker
	strategy   strategy
	partitions []protocol.Partition
	names      []string      // znodes at hand
	decisions  []coord.State // what is being written, by partition
	msg        sim.Message   // to answer
	lost       bool          // a partition lost its leader
	asked      bool          // a preferred election is asked for
	moves      bool          // partitions are to be moved
	brokers    protocol.Brokers
	replicas   protocol.Replicas // the assignment before a reassignment's end
	topic      string
}

type taskKind uint8

const (
	campaign taskKind = iota
	failover
	elect           // leaders for partitions
	create          // states for new partitions
	offlineReplicas // take the replicas of a broker out of ISRs
	readBrokers     // who is alive
	readTopics      // which partitions there are
	readISRChanges  // which ISRs changed
	readPreferred   // which preferred elections are asked for
	shutdownBegin   // relieve a broker
	shutdownEnd     // and answer it
	appear          // brokers that came
	vanish          // brokers that went
	tellMetadata    // UpdateMetadata to everyone
	rebalance       // look for leaders that should move back
	deletePreferred // the admin's request is done
	readReassign    // which partitions are to move
	reassign        // begin to move one, or go on with it
	checkReassign   // have those that move arrived?
	raiseEpoch      // a new leader epoch, with the assignment that is now
	stopOld         // the replicas that are no longer assigned
	deleteReplicas  // their logs
	writeAssignment // into the topic's znode
	endReassign     // it has been moved
	electUnclean    // an admin asks for an unclean election
	uncleanEnabled  // unclean election was switched on
)

// done is the phase of a task that has nothing left to do.
const done = -1

// needsReign is whether a task is the active controller's only.
func (t *task) needsReign() bool { return t.kind != campaign }

// begin turns an event into its first task.
func (c *Controller) begin(e event) {
	kinds := [...]taskKind{
		onCampaign: campaign, onBrokerChange: readBrokers, onTopicChange: readTopics, onISRChange: readISRChanges,
		onPreferredElection: readPreferred, onControlledShutdown: shutdownBegin, onRebalance: rebalance,
		onReassign: readReassign, onReassignISR: checkReassign, onUncleanElection: electUnclean, onUncleanEnabled: uncleanEnabled,
	}
	t := task{kind: kinds[e.kind], msg: e.msg, topic: e.topic}
	if e.kind == onUncleanElection {
		t.partitions = []protocol.Partition{e.partition}
	}
	c.tasks = append(c.tasks, t)
}

// step takes a task one phase further. It reports whether the task now waits for
// ZooKeeper, and when it is done which tasks come next.
func (c *Controller) step(ctx coord.Context, t *task) (waits bool, next []task) {
	switch t.kind {
	case campaign:
		return c.campaign(ctx, t)
	case failover:
		return c.failover(ctx, t)
	case elect:
		return c.elect(ctx, t), nil
	case create:
		return c.create(ctx, t), nil
	case offlineReplicas:
		return c.offlineReplicas(ctx, t), nil
	case readBrokers:
		return c.readBrokers(ctx, t)
	case readTopics:
		return c.readTopics(ctx, t)
	case readISRChanges:
		return c.readISRChanges(ctx, t), nil
	case readPreferred:
		return c.readPreferred(ctx, t)
	case shutdownBegin:
		return false, c.shutdownBegin(ctx, t)
	case shutdownEnd:
		c.shutdownEnd(ctx, t)
	case appear:
		t.phase = done
		return false, c.brokersCame(ctx, t.brokers)
	case vanish:
		t.phase = done
		return false, c.brokersWent(ctx, t.brokers)
	case tellMetadata:
		if !t.lost {
			c.batch.metadata(c.live|c.shuttingDown, nil)
		}
		t.phase = done
	case rebalance:
		return false, c.rebalance(ctx, t)
	case readReassign:
		return c.readReassign(ctx, t)
	case reassign:
		return c.reassign(ctx, t)
	case checkReassign:
		return c.checkReassign(ctx, t)
	case raiseEpoch:
		return c.raiseEpoch(ctx, t), nil
	case stopOld:
		return false, c.stopOld(t)
	case deleteReplicas:
		c.batch.remove(t.broker, t.partitions)
		t.phase = done
	case writeAssignment:
		return c.writeAssignment(ctx, t), nil
	case endReassign:
		return c.endReassign(ctx, t), nil
	case electUnclean:
		t.phase = done
		return false, c.electUnclean(t.partitions)
	case uncleanEnabled:
		t.phase = done
		return false, c.electOfflineOf(t.topic)
	case deletePreferred:
		if t.phase == 0 {
			t.phase = 1
			c.ask(ctx, []coord.Op{
				c.fenced(coord.Op{Kind: coord.Delete, Path: coord.PreferredElectionPath, Version: coord.AnyVersion}),
				{Kind: coord.Exists, Path: coord.PreferredElectionPath, Watch: true},
			})
			return true, nil
		}
		t.phase = done
	}
	return false, nil
}
