// Package check watches a run: after every event it holds what happened against the
// invariants of Kafka's replication, and keeps what was ever committed.
//
// It sees events only, as everybody outside does. An invariant that Kafka itself
// breaks under some settings or in some release lines (an unclean election, a power
// cut, truncation to the high watermark) is reported with that excuse: it is then a
// lesson, not a bug.
package check
