package protocol

// Value is a record's value, an index into the run's [Values]. A log of values is
// small and comparable; the texts are kept once.
type Value uint32

// Record is one entry of a log. Its offset is its place.
type Record struct {
	Value Value
	Epoch Epoch // leader epoch of the leader that appended it
}

// Values keeps the texts of record values. It only grows.
type Values struct {
	texts []string
	index map[string]Value
}

// NewValues makes an empty table.
func NewValues() *Values { return &Values{index: map[string]Value{}} }

// Add gives a text its number. A text added twice keeps its number.
func (v *Values) Add(text string) Value {
	if n, ok := v.index[text]; ok {
		return n
	}
	n := Value(len(v.texts))
	v.texts = append(v.texts, text)
	v.index[text] = n
	return n
}

// Find is the number of a text, if it has one.
func (v *Values) Find(text string) (Value, bool) { n, ok := v.index[text]; return n, ok }

// Text is the text of a value.
func (v *Values) Text(n Value) string { return v.texts[n] }

// Len is the number of values.
func (v *Values) Len() int { return len(v.texts) }

// Clone is a table that grows by itself.
func (v *Values) Clone() *Values {
	c := &Values{texts: v.texts[:len(v.texts):len(v.texts)], index: make(map[string]Value, len(v.texts))}
	for i, t := range c.texts {
		c.index[t] = Value(i)
	}
	return c
}
