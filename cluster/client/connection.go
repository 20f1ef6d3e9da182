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
}

// ready reports whether there is a connection to a broker, and tries one if not. Differs:
// what tries a connection is a metadata request, where Kafka's client sends a SYN and, since
// 0.10, ApiVersions.
func (c *connections) ready(b protocol.Broker, out *sim.Outbox) bool {
	if !c.closed.Has(b) {
		return true
	}
	if c.probe == 0 || c.of != b {
		c.probe, c.of = out.Request(sim.NodeID(b), protocol.ForClients, &protocol.MetadataRequest{}), b
	}
	return false
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
