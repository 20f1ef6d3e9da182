// Package cluster is Tidemark's core: brokers that run Kafka's replication
// protocol, a ZooKeeper, producers and consumers, as deterministic state machines
// on one scheduler with virtual time.
package cluster
