package trace

import (
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Event is one thing that happened. It is one flat record so that a run of millions
// of them costs no allocations; its kind's entry in the table of kinds says which
// fields are meaningful.
type Event struct {
	Seq   sim.Seq  // number, without gaps from 1
	Cause sim.Seq  // number of the event that led to it; 0 for the first
	Time  sim.Time // virtual

	Kind  Kind
	How   How
	Acks  int8
	Error protocol.Error

	Node, Peer      sim.NodeID // who it happened to, and the other one
	Partition       protocol.Partition
	Leader          protocol.Broker
	ISR             protocol.Brokers
	Epoch           protocol.Epoch // leader epoch
	ControllerEpoch protocol.Epoch
	Version         int32 // of a znode
	Producer        protocol.ProducerID
	Sequence        protocol.Sequence // of the first record; meaningful with a producer id
	Offset          protocol.Offset   // see the kind
	HW              protocol.Offset
	Message         sim.Seq  // number of the message_sent event
	At              sim.Time // time of arrival, or a duration; see the kind
	Session         int64    // ZooKeeper session
	Path, Text      string
	Replicas        protocol.Replicas
	Records         []protocol.Record // shared with a log: read only
	Values          []protocol.Value
	Body            protocol.Body // of a message, described only when someone looks
}

// Names resolves what events carry as numbers.
type Names struct {
	Partitions *protocol.Catalog
	Values     *protocol.Values
	Nodes      []string // by sim.NodeID
}

// Node is the name of a node.
func (n *Names) Node(id sim.NodeID) string { return n.Nodes[id] }

// Partition is the name of a partition.
func (n *Names) Partition(p protocol.Partition) string { return n.Partitions.Name(p).String() }

// Clone copies the tables.
func (n *Names) Clone() *Names {
	return &Names{n.Partitions.Clone(), n.Values.Clone(), n.Nodes[:len(n.Nodes):len(n.Nodes)]}
}
