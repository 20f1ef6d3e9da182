// Package client is the producers and consumers of a cluster.
//
// Both find a partition's leader by asking any broker for metadata, and ask again
// when an answer or a lost connection shows that what they know is old. A
// [Producer] feeds one partition, a [Reader] reads one.
//
// A producer tries again as Kafka's does: what was refused goes back to the head of its
// queue, while requests that were sent after it may have been accepted, so that records
// can change their order. An idempotent one numbers its records under a producer id, and
// what is sent again keeps its number and its place.
package client
