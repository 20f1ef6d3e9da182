// Package cluster is Tidemark's core: brokers that run Kafka's replication
// protocol, a ZooKeeper, producers and consumers, as deterministic state machines
// on one scheduler with virtual time.
//
// # One produce, end to end
//
// A command (send P "A") is executed at the present virtual time by [Cluster.Do],
// which records it. The producer (client.Producer) asks a broker who leads, and sends
// a Produce request to that leader: the event message_sent says when it will arrive.
// On arrival broker.Machine hands it to replica.Manager, which appends to the log
// (log_appended) and, with acks=all, parks the request (produce_parked). Followers'
// fetches that waited for data are answered with the record; the followers append it
// and fetch again, from the next offset. That fetch is their acknowledgement: the
// leader notes how far they got (follower_progressed), raises the high watermark
// when every ISR member has the record (high_watermark_advanced), and only then
// answers the producer (record_acked). The followers learn the new high watermark in
// an answer that is still to come.
//
// # Map
//
//	sim         virtual time, nodes, timers, the network; knows no Kafka
//	protocol    ids, requests, errors, settings, and the rules of each release line
//	trace       events, the state they add up to, the recorder
//	storage     logs, leader epochs, checkpoints: what outlives a process
//	coord       ZooKeeper's server and the client half of a session
//	replica     leaders, followers, fetchers, ISR, purgatory
//	controller  elections, failover, the channels to brokers
//	broker      the machine and the process that puts those parts together
//	client      producers and consumers
//	check       the invariants, held against every event
//	search      random faults and random walks, to break them
//	script      the lab language that drives all of it
//	cases       public failure reports, as runs that assert their outcome
//	runner      the shell: wall time to virtual time, one goroutine a cluster
//
// DESIGN.md has the decisions, the invariants and the differences from Kafka.
package cluster
