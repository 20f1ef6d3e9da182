package client

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// locator finds the leader of a partition. Kafka: the clients' Metadata and
// NetworkClient's metadata updater.
type locator struct {
	partition protocol.Partition
	leader    protocol.Broker // NoBroker while it is not known
	epoch     protocol.Epoch
	learned   protocol.Broker // the latest leader it learned of
	asked     sim.Seq         // metadata request under way
	from      protocol.Broker // whom it was asked of, or who failed since; the next one is asked next
	paused    bool            // before asking again
}

const timerMetadata sim.TimerID = 1

// metadataTimeout is request.timeout.ms of the clients.
const metadataTimeout = 30 * sim.Second

// newLocator makes the locator of a client before which so many others were made.
func newLocator(p protocol.Partition, nth int, c *protocol.Config) locator {
	brokers := c.Brokers.List()
	return locator{partition: p, leader: protocol.NoBroker, learned: protocol.NoBroker, epoch: protocol.NoEpoch, from: brokers[nth%len(brokers)] - 1}
}

// refresh asks for metadata, unless that is under way or just failed. It asks a broker
// that owes this client no answer, and the one that just failed last.
// Kafka: NetworkClient.leastLoadedNode. Differs: Kafka begins at a random broker, here
// the first client begins at the first broker, the second at the second.
func (l *locator) refresh(c *protocol.Config, owing protocol.Brokers, out *sim.Outbox) {
	if l.asked != 0 || l.paused {
		return
	}
	ask := c.Brokers &^ owing
	if ask == 0 {
		ask = c.Brokers
	}
	l.from = after(l.from, ask)
	l.asked = out.Request(sim.NodeID(l.from), protocol.ForClients, &protocol.MetadataRequest{})
	out.SetTimer(timerMetadata, metadataTimeout)
}

// after is the next of some brokers: the least above one, or the least.
func after(b protocol.Broker, of protocol.Brokers) protocol.Broker {
	next := protocol.NoBroker
	for x := range of.All {
		if next == protocol.NoBroker || x > b && next <= b {
			next = x
		}
	}
	return next
}

// forget drops what is known of the leader and asks again.
func (l *locator) forget(c *protocol.Config, owing protocol.Brokers, out *sim.Outbox) {
	l.leader = protocol.NoBroker
	l.refresh(c, owing, out)
}

// failed notes a broker that did not answer, so that the next one is asked.
func (l *locator) failed(b protocol.Broker) {
	if l.asked == 0 {
		l.from = b
	}
}

// answer takes metadata and reports whether the leader is known now.
func (l *locator) answer(msg *sim.Message, a *protocol.MetadataAnswer, c *protocol.Config, out *sim.Outbox) bool {
	if msg.InReplyTo != l.asked {
		return false
	}
	l.asked = 0
	l.from-- // the one that answered is asked again
	for _, p := range a.Partitions {
		if p.Partition != l.partition {
			continue
		}
		if p.LeaderEpoch < l.epoch && l.leader != protocol.NoBroker {
			l.age(c, out) // it is older than what is known
			return true
		}
		if p.Error != protocol.None || p.LeaderEpoch < l.epoch {
			l.leader = protocol.NoBroker
			break
		}
		if p.Leader != l.learned || p.LeaderEpoch != l.epoch {
			trace.Because(out, trace.Emit(out, trace.Event{Kind: trace.LeaderLearned, Node: out.Node(), Partition: l.partition, Leader: p.Leader, Epoch: p.LeaderEpoch}))
		}
		l.leader, l.learned, l.epoch = p.Leader, p.Leader, p.LeaderEpoch
		l.age(c, out)
		return true
	}
	l.pause(c, out)
	return false
}

// age lets what is known be asked for again when it is metadata.max.age.ms old.
func (l *locator) age(c *protocol.Config, out *sim.Outbox) {
	out.SetTimer(timerMetadata, sim.Time(c.Settings.MetadataMaxAge))
}

// pause waits retry.backoff.ms before asking again.
func (l *locator) pause(c *protocol.Config, out *sim.Outbox) {
	l.paused = true
	out.SetTimer(timerMetadata, sim.Time(c.Settings.RetryBackoff))
}

// fire takes the locator's timer: a pause is over, a request was not answered, or what is
// known has aged, and serves until there is an answer.
func (l *locator) fire(c *protocol.Config, owing protocol.Brokers, out *sim.Outbox) {
	l.paused, l.asked = false, 0
	l.refresh(c, owing, out)
}

// disconnected tells that a broker is gone; the next one is asked.
func (l *locator) disconnected(peer sim.NodeID, c *protocol.Config, out *sim.Outbox) {
	if l.asked != 0 && protocol.Broker(peer) == l.from {
		l.asked = 0
		l.pause(c, out)
	}
}
