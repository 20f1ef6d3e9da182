package storage

import (
	"slices"
	"testing"

	"tidemark/cluster/protocol"
)

// history is a log of two records in epoch 0, three in epoch 2 and one in epoch 3.
func history() *Log {
	l := &Log{}
	l.Epochs.Repairs = true
	for _, e := range []protocol.Epoch{0, 0, 2, 2, 2, 3} {
		l.Append(0, []protocol.Record{{Value: protocol.Value(len(l.Records)), Epoch: e}})
	}
	return l
}

func TestTrim(t *testing.T) {
	for _, c := range []struct {
		to     protocol.Offset
		moved  bool
		epochs []EpochStart
	}{
		{0, false, []EpochStart{{0, 0}, {2, 2}, {3, 5}}},
		{1, true, []EpochStart{{0, 1}, {2, 2}, {3, 5}}},
		{2, true, []EpochStart{{2, 2}, {3, 5}}},
		{4, true, []EpochStart{{2, 4}, {3, 5}}},
		{5, true, []EpochStart{{3, 5}}},
		{6, true, []EpochStart{{3, 6}}},
	} {
		l := history()
		clone := l.clone()
		if l.Trim(c.to) != c.moved {
			t.Errorf("trim to %d: moved is not %t", c.to, c.moved)
		}
		if l.Start != c.to || l.LEO() != 6 || !slices.Equal(l.Epochs.Entries(), c.epochs) {
			t.Errorf("trim to %d: start %d, LEO %d, epochs %v, want epochs %v", c.to, l.Start, l.LEO(), l.Epochs.Entries(), c.epochs)
		}
		if l.Flushed < l.Start || l.Flushed > l.LEO() {
			t.Errorf("trim to %d: flushed below %d", c.to, l.Flushed)
		}
		for at := l.Start; at < l.LEO(); at++ {
			if r := l.Read(at, l.LEO(), 1); len(r) != 1 || r[0].Value != protocol.Value(at) {
				t.Errorf("trim to %d: at %d is %v", c.to, at, r)
			}
		}
		if want := history(); clone.Start != 0 || !slices.Equal(clone.Records, want.Records) || !slices.Equal(clone.Epochs.Entries(), want.Epochs.Entries()) {
			t.Errorf("trim to %d changed a clone", c.to)
		}
	}
}

func TestEndOffsetsAfterTrim(t *testing.T) {
	l := history()
	l.Trim(4)
	for epoch, want := range map[protocol.Epoch]EpochStart{0: {0, 4}, 1: {1, 4}, 2: {2, 5}, 3: {3, 6}, 4: {protocol.NoEpoch, protocol.NoOffset}} {
		if e, o := l.Epochs.EndOffsetFor(epoch, l.LEO()); (EpochStart{e, o}) != want {
			t.Errorf("epoch %d ends at %d of epoch %d, want %v", epoch, o, e, want)
		}
	}
}

func TestTruncateBelowTheLogStart(t *testing.T) {
	l := history()
	l.Trim(4)
	if !l.Truncate(3) || l.Start != 3 || l.LEO() != 3 || l.Flushed != 3 || len(l.Epochs.Entries()) != 0 {
		t.Errorf("start %d, LEO %d, flushed %d, epochs %v", l.Start, l.LEO(), l.Flushed, l.Epochs.Entries())
	}
	if l.Truncate(3) {
		t.Error("there was nothing to cut")
	}
}
