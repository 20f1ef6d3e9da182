package protocol

import "slices"

// Value is a record's value, an index into the run's [Values]. A log of values is
// small and comparable; the texts are kept once.
type Value uint32

// Record is one entry of a log. Its offset is its place.
type Record struct {
	Value Value
	Epoch Epoch // leader epoch of the leader that appended it
}

// Batch is the header of a batch of records that an idempotent producer sent. Batches of
// other producers have nothing in their headers that is needed here, and get none.
// Kafka: DefaultRecordBatch: producerId, baseOffset, baseSequence, lastSequence.
type Batch struct {
	Producer    ProducerID
	Base        Offset // of its first record
	First, Last Sequence
}

// End is the offset after its last record.
func (b *Batch) End() Offset { return b.Base + Offset(b.Last-b.First) + 1 }

// Values keeps the texts of record values. It only grows, and a clone costs two copies
// of plain numbers: that is why its index is not a map.
type Values struct {
	texts []string
	slots []Value // open addressing by the text's hash: value + 1, or 0; a power of two long
}

// NewValues makes an empty table.
func NewValues() *Values { return &Values{slots: make([]Value, 64)} }

// Add gives a text its number. A text added twice keeps its number.
func (v *Values) Add(text string) Value {
	n, _ := v.AddNew(text)
	return n
}

// AddNew does the same, and reports whether the text is new.
func (v *Values) AddNew(text string) (n Value, added bool) {
	i := v.slot(text)
	if v.slots[i] != 0 {
		return v.slots[i] - 1, false
	}
	n = Value(len(v.texts))
	v.texts = append(v.texts, text)
	v.slots[i] = n + 1
	if 2*len(v.texts) > len(v.slots) {
		v.slots = make([]Value, 2*len(v.slots))
		for k, t := range v.texts {
			v.slots[v.slot(t)] = Value(k) + 1
		}
	}
	return n, true
}

// slot is the place of a text: where it is, or where it would go.
func (v *Values) slot(text string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	mask := uint32(len(v.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if n := v.slots[i]; n == 0 || v.texts[n-1] == text {
			return i
		}
	}
}

// Find is the number of a text, if it has one.
func (v *Values) Find(text string) (Value, bool) {
	n := v.slots[v.slot(text)]
	return n - 1, n != 0
}

// Text is the text of a value.
func (v *Values) Text(n Value) string { return v.texts[n] }

// Len is the number of values.
func (v *Values) Len() int { return len(v.texts) }

// Clone is a table that grows by itself.
func (v *Values) Clone() *Values {
	return &Values{texts: v.texts[:len(v.texts):len(v.texts)], slots: slices.Clone(v.slots)}
}
