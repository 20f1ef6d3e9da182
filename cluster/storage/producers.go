package storage

import (
	"slices"
	"sort"

	"tidemark/cluster/protocol"
)

// This file is what a log knows of idempotent producers. All of it lies in the log, in the
// headers of their batches, so that it is right after a truncation, a restart and on a
// follower that becomes leader. Kafka: ProducerStateManager, which keeps the same as a map
// and rebuilds that from the log.

// SequenceVerdict is what a producer's sequence numbers say of a batch.
type SequenceVerdict uint8

// The verdicts.
const (
	InSequence      SequenceVerdict = iota // the one that comes next
	Duplicate                              // it is in the log already
	OutOfSequence                          // something before it is missing, or it is old
	UnknownProducer                        // it is not the first, and the log has none of this producer's
)

// CheckSequence judges a batch by the last so many that the log has of its producer, and
// finds the one that it is a duplicate of. Only the same first and last sequence number
// make a duplicate: "not above the last" would swallow records after a gap.
// Kafka: ProducerStateEntry.findDuplicateBatch, ProducerAppendInfo.checkSequence.
func (l *Log) CheckSequence(id protocol.ProducerID, first, last protocol.Sequence, kept int) (SequenceVerdict, protocol.Batch) {
	seen, next := 0, protocol.Sequence(0)
	for i := len(l.Batches) - 1; i >= 0 && seen < kept; i-- {
		b := &l.Batches[i]
		if b.End() <= l.Start {
			break // deleted with the records, and so is everything before it
		}
		if b.Producer != id {
			continue
		}
		if b.First == first && b.Last == last {
			return Duplicate, *b
		}
		if seen == 0 {
			next = b.Last + 1
		}
		seen++
	}
	switch {
	case first == next:
		return InSequence, protocol.Batch{}
	case seen == 0:
		return UnknownProducer, protocol.Batch{}
	}
	return OutOfSequence, protocol.Batch{}
}

// AddBatches adds the headers of batches whose records were appended. Of a batch that was
// begun before, with an earlier part of it, the header is there already.
func (l *Log) AddBatches(batches []protocol.Batch) {
	for _, b := range batches {
		b, any := l.clip(b)
		switch n := len(l.Batches); {
		case !any:
		case n > 0 && l.Batches[n-1].Base == b.Base:
			l.Batches = append(l.Batches[:n-1:n-1], b) // a copy: the list is shared
		default:
			l.Batches = append(l.Batches, b)
		}
	}
}

// BatchesIn are the headers of the batches that have records from one offset on, below another.
func (l *Log) BatchesIn(from, end protocol.Offset) []protocol.Batch {
	i := sort.Search(len(l.Batches), func(i int) bool { return l.Batches[i].End() > from })
	k := i
	for k < len(l.Batches) && l.Batches[k].Base < end {
		k++
	}
	return l.Batches[i:k:k]
}

// wholeBatches moves the end of what is read, so that it parts no batch: to its beginning, or
// to its end where nothing would be left.
func (l *Log) wholeBatches(from, to int) int {
	at := l.Start + protocol.Offset(to)
	for _, b := range l.BatchesIn(at, at+1) {
		switch begin := int(b.Base - l.Start); {
		case begin >= to:
		case begin > from:
			return begin
		default:
			return int(b.End() - l.Start)
		}
	}
	return to
}

// truncateBatches lets the headers end where the records do.
func (l *Log) truncateBatches() {
	n := len(l.Batches)
	for n > 0 && l.Batches[n-1].End() > l.LEO() {
		n--
	}
	kept := slices.Clone(l.Batches[:n])
	if n < len(l.Batches) {
		if b, any := l.clip(l.Batches[n]); any {
			kept = append(kept, b)
		}
	}
	l.Batches = kept
}

// clip shortens a batch to what the log has of it, and reports whether that is anything.
func (l *Log) clip(b protocol.Batch) (protocol.Batch, bool) {
	b.Last = min(b.Last, b.First+protocol.Sequence(l.LEO()-b.Base)-1)
	return b, b.Last >= b.First
}
