// Package coord is ZooKeeper as Kafka uses it: a tree of znodes with versions,
// ephemeral and sequential nodes, sessions that live on pings, and one-shot
// watches.
//
// [Server] is the node that keeps the tree. [Session] is the client half, a part of
// a broker: it opens a session, keeps it alive, sends operations in order, sends
// them again after a lost connection, and learns of its end as ZooKeeper's client
// does: only when it reaches the server again. What waits for an answer is kept
// as data: every operation carries a [Tag] that says who asked and what for.
//
// Differs: one server stands for the ensemble, and a session ends exactly after its
// timeout, where ZooKeeper rounds up to its tick.
package coord
