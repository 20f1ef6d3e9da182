// Package broker is a Kafka broker and the machine it runs on.
//
// [Machine] is the node: it has the disk, which outlives the process, and while the
// process runs a broker made of its parts: a ZooKeeper session, the controller
// component, the replica manager and the metadata cache. It hands each input to the
// part that it is for.
package broker
