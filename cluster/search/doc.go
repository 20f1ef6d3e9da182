// Package search looks for runs that break an invariant or do not come to rest: random
// schedules of faults, and random walks in which any message may be the next to arrive.
//
// A run has two phases. In the first, faults come and go while producers send, and the
// checker watches (package check). Then everything is healed, and the cluster must come
// to rest with a leader and a full ISR in every partition, equal logs, an answer for
// every producer, and must acknowledge one more record.
//
// A schedule is plain data and a function of a seed. One that fails is shrunk to the few
// faults that matter and written as a file for tidemark run.
package search
