// Package client is the producers and consumers of a cluster.
//
// Both find a partition's leader by asking any broker for metadata, and ask again
// when an answer or a lost connection shows that what they know is old. A
// [Producer] feeds one partition, a [Reader] reads one.
package client
