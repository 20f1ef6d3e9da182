package storage

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tidemark/cluster/protocol"
)

// send appends a batch of so many records as a leader does.
func send(l *Log, id protocol.ProducerID, first protocol.Sequence, count int) {
	base := l.LEO()
	values := make([]protocol.Value, count)
	for i := range values {
		values[i] = protocol.Value(base) + protocol.Value(i)
	}
	l.AppendValues(0, 0, values)
	if id != protocol.NoProducerID {
		l.AddBatches([]protocol.Batch{{Producer: id, Base: base, First: first, Last: first + protocol.Sequence(count) - 1}})
	}
}

func TestCheckSequence(t *testing.T) {
	l := &Log{}
	for seq := range protocol.Sequence(7) { // 0-1, 2-3, … 12-13
		send(l, 5, 2*seq, 2)
		send(l, protocol.NoProducerID, 0, 1)
		send(l, 6, 3*seq, 3)
	}
	for _, c := range []struct {
		id          protocol.ProducerID
		first, last protocol.Sequence
		kept        int
		want        SequenceVerdict
		base        protocol.Offset
	}{
		{5, 14, 14, 5, InSequence, 0},
		{5, 14, 20, 5, InSequence, 0},
		{5, 15, 15, 5, OutOfSequence, 0},
		{5, 12, 13, 5, Duplicate, 36},
		{5, 12, 12, 5, OutOfSequence, 0}, // a part of a batch is not that batch
		{5, 12, 14, 5, OutOfSequence, 0},
		{5, 4, 5, 5, Duplicate, 12}, // the fifth from the end
		{5, 2, 3, 5, OutOfSequence, 0},
		{5, 12, 13, 1, Duplicate, 36},
		{5, 10, 11, 1, OutOfSequence, 0},
		{5, 0, 1, 5, OutOfSequence, 0},
		{6, 18, 20, 5, Duplicate, 39},
		{6, 21, 21, 5, InSequence, 0},
		{7, 0, 0, 5, InSequence, 0},
		{7, 1, 1, 5, UnknownProducer, 0},
	} {
		have, b := l.CheckSequence(c.id, c.first, c.last, c.kept)
		if have != c.want || b.Base != c.base {
			t.Errorf("%d-%d of %d, %d kept: verdict %d at %d, want %d at %d", c.first, c.last, c.id, c.kept, have, b.Base, c.want, c.base)
		}
	}
	// What was deleted from the front is not known any more, with the rest of its batch it is.
	l.Records, l.Start = l.Records[37:], 37
	for first, want := range map[protocol.Sequence]SequenceVerdict{12: Duplicate, 10: OutOfSequence} {
		if have, _ := l.CheckSequence(5, first, first+1, 5); have != want {
			t.Errorf("%d after the log start moved: %d", first, have)
		}
	}
	l.Records, l.Start = l.Records[1:], 38
	if have, _ := l.CheckSequence(5, 12, 13, 5); have != UnknownProducer {
		t.Errorf("nothing of the producer is left: %d", have)
	}
}

// TestFollowersKnowWhatLeadersKnow: however a follower fetches, and wherever it is cut off
// in between, a whole log has the batches of the leader's, and a cut one what is left of them.
func TestFollowersKnowWhatLeadersKnow(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		leader, follower := &Log{}, &Log{}
		var next [3]protocol.Sequence
		for range 60 {
			switch r.IntN(4) {
			case 0:
				id, n := r.IntN(3), 1+r.IntN(5)
				send(leader, protocol.ProducerID(id), next[id], n)
				next[id] += protocol.Sequence(n)
			case 1:
				send(leader, protocol.NoProducerID, 0, 1+r.IntN(3))
			case 2:
				fetch(t, leader, follower, 1+r.IntN(6))
			case 3:
				if r.IntN(3) > 0 {
					break
				}
				clone, batches := follower.clone(), slices.Clone(follower.Batches)
				follower.Truncate(max(follower.LEO()-protocol.Offset(r.IntN(4)), 0))
				fetch(t, leader, follower, 1+r.IntN(6))
				if !slices.Equal(clone.Batches, batches) {
					t.Fatalf("seed %d: a cut changed a clone", seed)
				}
			}
			var want []protocol.Batch
			for _, b := range leader.Batches {
				if b.End() > follower.LEO() {
					b.Last = b.First + protocol.Sequence(follower.LEO()-b.Base) - 1
				}
				if b.Last >= b.First {
					want = append(want, b)
				}
			}
			if !slices.Equal(follower.Batches, want) {
				t.Fatalf("seed %d: at %d a follower has\n%v, want\n%v", seed, follower.LEO(), follower.Batches, want)
			}
		}
		for follower.LEO() < leader.LEO() {
			fetch(t, leader, follower, 1+r.IntN(6))
		}
		if !slices.Equal(follower.Batches, leader.Batches) || !slices.Equal(follower.Records, leader.Records) {
			t.Fatalf("seed %d: the logs differ", seed)
		}
	}
}

// fetch copies up to so many records. A batch is not parted unless the follower has a part.
func fetch(t *testing.T, leader, follower *Log, limit int) {
	at := follower.LEO()
	records := leader.Read(at, leader.LEO(), limit)
	end := at + protocol.Offset(len(records))
	batches := leader.BatchesIn(at, end)
	for _, b := range batches {
		if b.Base < end && b.End() > end {
			t.Fatalf("a read of %d from %d parts %v", len(records), at, b)
		}
	}
	if at < leader.LEO() && len(records) == 0 {
		t.Fatalf("nothing at %d of %d", at, leader.LEO())
	}
	follower.Append(0, records)
	follower.AddBatches(batches)
}
