// Package replica is the replication protocol inside a broker: partitions that lead
// or follow, the fetchers that pull from leaders, and the purgatory in which
// requests wait.
//
// A [Manager] has the replicas of one broker. On the leader's side, a produce
// request is appended and, with acks=all, parked until the high watermark (HW) has
// passed it. A follower's fetch is at once a request for records and the report
// that it has everything below its offset. The order in which a leader handles one
// matters, and is Kafka's: read the log and take note of the HW, record the
// follower's position, perhaps let it into the ISR, perhaps raise the HW, and only
// then complete what waits. An answer therefore carries the HW from before the fetch
// that raised it, which is why a follower's HW trails by a round.
//
// On the follower's side a fetcher keeps one request at a time under way to each
// leader it follows. A new follower first makes the end of its log agree with the
// leader's: by cutting to its own HW in the old release lines, by asking for the end
// of its latest leader epoch in the later ones.
package replica
