package storage

import "tidemark/cluster/protocol"

// EpochStart says that a leader epoch began at an offset.
type EpochStart struct {
	Epoch protocol.Epoch
	Start protocol.Offset
}

// EpochCache is the list of leader epochs in a log, strictly increasing in both
// fields. Kafka: LeaderEpochFileCache.
type EpochCache struct {
	entries []EpochStart
	// Repairs is the rule of the line (KAFKA-7415): entries that contradict a newer one
	// go, and an epoch older than all has an end. Its broker sets it.
	Repairs bool
}

// Entries is the list, read only.
func (c *EpochCache) Entries() []EpochStart { return c.entries }

// Latest is the latest epoch, or NoEpoch.
func (c *EpochCache) Latest() protocol.Epoch {
	if len(c.entries) == 0 {
		return protocol.NoEpoch
	}
	return c.entries[len(c.entries)-1].Epoch
}

// Assign notes that an epoch began at an offset, unless it is the latest already.
// Entries that contradict it go, where the line repairs; else it is not noted.
// Kafka: LeaderEpochFileCache.assign; the repairs since KAFKA-7415.
func (c *EpochCache) Assign(epoch protocol.Epoch, start protocol.Offset) {
	if n := len(c.entries); n > 0 {
		last := c.entries[n-1]
		if last.Epoch == epoch && start >= last.Start || !c.Repairs && (epoch <= last.Epoch || start < last.Start) {
			return
		}
	}
	n := len(c.entries)
	for n > 0 && (c.entries[n-1].Epoch >= epoch || c.entries[n-1].Start >= start) {
		n--
	}
	c.entries = append(c.entries[:n:n], EpochStart{epoch, start})
}

// TruncateFromEnd drops the entries that begin at an offset or after it.
func (c *EpochCache) TruncateFromEnd(offset protocol.Offset) {
	n := len(c.entries)
	for n > 0 && c.entries[n-1].Start >= offset {
		n--
	}
	c.entries = c.entries[:n]
}

// TruncateFromStart drops the entries whose epochs ended before an offset; the one that
// covers the offset begins there from now on. Kafka: LeaderEpochFileCache.truncateFromStart.
func (c *EpochCache) TruncateFromStart(offset protocol.Offset) {
	n := 0
	for n < len(c.entries) && c.entries[n].Start <= offset {
		n++
	}
	if n == 0 {
		return
	}
	c.entries = append([]EpochStart{{c.entries[n-1].Epoch, offset}}, c.entries[n:]...)
}

// EndOffsetFor is the largest epoch in the cache that is at most the one asked for,
// and the offset at which it ended. Both are −1 when it is not known.
// An epoch older than all of them ends where the first begins, where the line repairs;
// else it is not known. Kafka: LeaderEpochFileCache.endOffsetFor, before 2.0.1 and since.
func (c *EpochCache) EndOffsetFor(epoch protocol.Epoch, leo protocol.Offset) (protocol.Epoch, protocol.Offset) {
	n := len(c.entries)
	switch {
	case epoch == protocol.NoEpoch || n == 0 || epoch > c.entries[n-1].Epoch:
		return protocol.NoEpoch, protocol.NoOffset
	case epoch == c.entries[n-1].Epoch:
		return epoch, leo
	case epoch < c.entries[0].Epoch && !c.Repairs:
		return protocol.NoEpoch, protocol.NoOffset
	case epoch < c.entries[0].Epoch:
		return epoch, c.entries[0].Start
	}
	for i := n - 1; ; i-- {
		if c.entries[i].Epoch <= epoch {
			return c.entries[i].Epoch, c.entries[i+1].Start
		}
	}
}
