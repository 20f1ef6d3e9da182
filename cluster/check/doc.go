// Package check watches a run: after every event it holds what happened against the
// invariants of Kafka's replication, and at the end it audits what producers were told.
//
// It sees events only, as everybody outside does, and keeps what no broker has to
// know: for each partition everything that was ever committed, that is, was below the
// high watermark of a leader, and how much of that each replica's log has (its match).
// So a check costs what has changed, not what the logs hold.
//
// Not every violation is a bug of the cluster. Kafka itself broke some of the
// invariants: in the release lines before KIP-320, and in every line after an unclean
// election or when records are lost with a disk. Such a violation is
// reported with its cause and the public case that explains it; it is then a lesson.
// Which lines uphold an invariant is the line's own matter: a rule that somebody
// overrides (rule fetch-fencing off) excuses nothing.
package check
