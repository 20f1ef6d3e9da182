package sim

import "strconv"

// Time is virtual time in microseconds since the cluster was made.
type Time int64

// Units of virtual time.
const (
	Microsecond Time = 1
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
	Minute           = 60 * Second

	// Never is later than anything that can be scheduled.
	Never Time = 1<<63 - 1
)

// Seq numbers everything that happens in a run, from 1, without gaps.
type Seq uint64

// NodeID names a node of the simulation; it is a small index, not a Kafka id.
type NodeID int16

// MaxNodes bounds the ids: links are kept as bit sets over nodes.
const MaxNodes = 64

// String writes a time as milliseconds, with microseconds only where there are some.
func (t Time) String() string {
	s := strconv.FormatInt(int64(t/Millisecond), 10)
	if rest := t % Millisecond; rest != 0 {
		frac := strconv.FormatInt(int64(rest+1000), 10)[1:]
		for frac[len(frac)-1] == '0' {
			frac = frac[:len(frac)-1]
		}
		s += "." + frac
	}
	return s + "ms"
}
