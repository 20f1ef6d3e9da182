package storage

import (
	"slices"

	"tidemark/cluster/protocol"
)

// Log is one replica's log. Kafka: kafka.log.Log.
type Log struct {
	Partition protocol.Partition
	// Start is the first offset kept.
	Start protocol.Offset
	// Records are the entries from Start on. They are shared with messages, events and
	// clones: appending is the only way they change in place.
	Records []protocol.Record
	// Flushed is the recovery point: everything below it is on disk.
	Flushed protocol.Offset
	// DirtySince is when the first record above Flushed was appended, in microseconds;
	// meaningful while there is one.
	DirtySince int64
	// Epochs is the leader epoch cache.
	Epochs EpochCache
	// Batches are the headers of the idempotent producers' batches in Records, by offset, with
	// some before Start perhaps. They are shared as the records are.
	Batches []protocol.Batch
}

// LEO is the log end offset: the offset of the next record.
func (l *Log) LEO() protocol.Offset { return l.Start + protocol.Offset(len(l.Records)) }

// Append adds records at the end and returns them as they lie in the log.
func (l *Log) Append(now int64, records []protocol.Record) []protocol.Record {
	if l.Flushed == l.LEO() {
		l.DirtySince = now
	}
	for i, r := range records {
		l.Epochs.Assign(r.Epoch, l.LEO()+protocol.Offset(i))
	}
	n := len(l.Records)
	l.Records = append(l.Records, records...)
	return l.Records[n:len(l.Records):len(l.Records)]
}

// AppendValues adds values that a producer sent, under the leader's epoch.
func (l *Log) AppendValues(now int64, epoch protocol.Epoch, values []protocol.Value) []protocol.Record {
	if l.Flushed == l.LEO() {
		l.DirtySince = now
	}
	l.Epochs.Assign(epoch, l.LEO())
	n := len(l.Records)
	for _, v := range values {
		l.Records = append(l.Records, protocol.Record{Value: v, Epoch: epoch})
	}
	return l.Records[n:len(l.Records):len(l.Records)]
}

// Read is up to limit records from an offset on, below an end.
func (l *Log) Read(from, end protocol.Offset, limit int) []protocol.Record {
	end = min(end, l.LEO())
	if from >= end {
		return nil
	}
	i := int(from - l.Start)
	k := min(int(end-l.Start), i+limit)
	if len(l.Batches) > 0 {
		k = min(l.wholeBatches(i, k), int(end-l.Start))
	}
	return l.Records[i:k:k]
}

// Truncate cuts the log off at an offset and reports whether its end moved. The cut
// copies: what was cut off may still be seen in messages and clones. A log that begins
// above the offset is dropped and begins there.
// Kafka: Log.truncateTo, which leaves the epoch cache alone when there is nothing to cut.
func (l *Log) Truncate(to protocol.Offset) bool {
	if to >= l.LEO() {
		return false
	}
	if to < l.Start {
		l.Restart(to)
		return true
	}
	l.Records = slices.Clone(l.Records[:to-l.Start])
	l.Flushed = min(l.Flushed, to)
	l.Epochs.TruncateFromEnd(to)
	l.truncateBatches()
	return true
}

// Trim drops what lies below an offset, which is at most the log end, and reports whether
// the log start moved. Differs: Kafka's retention drops whole segments, and writes the new
// log start to disk once a minute; here it moves to any offset and is on disk at once.
// Kafka: Log.maybeIncrementLogStartOffset.
func (l *Log) Trim(to protocol.Offset) bool {
	if to <= l.Start {
		return false
	}
	l.Epochs.TruncateFromStart(to)
	l.Records = l.Records[to-l.Start:]
	l.Start, l.Flushed = to, max(l.Flushed, to)
	return true
}

// Restart empties the log and lets it begin at an offset.
// Kafka: Log.truncateFullyAndStartAt.
func (l *Log) Restart(at protocol.Offset) {
	l.Records, l.Start, l.Flushed = nil, at, at
	l.Epochs.entries, l.Batches = nil, nil
}

// Flush puts everything on disk and reports whether there was anything to write.
func (l *Log) Flush() bool {
	if l.Flushed == l.LEO() {
		return false
	}
	l.Flushed = l.LEO()
	return true
}

func (l *Log) clone() *Log {
	c := *l
	c.Records = l.Records[:len(l.Records):len(l.Records)]
	c.Batches = l.Batches[:len(l.Batches):len(l.Batches)]
	c.Epochs.entries = slices.Clone(l.Epochs.entries)
	return &c
}
