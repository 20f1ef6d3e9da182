package client

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// connections is what a producer knows of its connections: to a broker that closed one it
// sends no record before another one stands. So a broker that is down costs time, not
// tries. Kafka: NetworkClient.ready, which Sender asks before it drains a batch.
type connections struct {
	closed protocol.Brokers // they closed the connection and have not been heard of since
	probe  sim.Seq          // the request under way that tries a new one
	of     protocol.Broker  // whom it was sent to
	giveUp sim.Time         // when it is given up
}

// connectTimeout is how long a try of a connection may take.
const connectTimeout = sim.Second

// ready reports whether there is a connection to a broker, and tries one if not. Differs:
// what tries a connection is a metadata request, given up after a second, where Kafka's
// client sends a SYN and, since 0.10, ApiVersions, and waits as long as TCP does.
func (c *connections) ready(now sim.Time, b protocol.Broker, out *sim.Outbox) bool {
	if !c.closed.Has(b) {
		return true
	}
	if c.probe == 0 || c.of != b {
		c.probe, c.of = out.Request(sim.NodeID(b), protocol.ForClients, &protocol.MetadataRequest{}), b
		c.giveUp = now + connectTimeout
	}
	return false
}

// timedOut reports whether a try of a connection has taken too long, and forgets it then.
func (c *connections) timedOut(now sim.Time) bool {
	if c.probe == 0 || now < c.giveUp {
		return false
	}
	c.probe = 0
	return true
}

// heard notes that a broker answers, lost that it closed its connection.
func (c *connections) heard(b protocol.Broker) {
	c.closed = c.closed.Without(b)
	if c.of == b {
		c.probe = 0
	}
}

func (c *connections) lost(b protocol.Broker) {
	c.closed = c.closed.With(b)
	if c.of == b {
		c.probe = 0
	}
}
