package sim

// Arena hands out values of one type from larger blocks, so that the millions of
// small immutable messages of a run cost the garbage collector little. What it
// hands out is never taken back: a message may be shared by clones of a cluster.
type Arena[T any] struct{ block []T }

const arenaBlock = 128

// New returns a zero value.
func (a *Arena[T]) New() *T {
	if len(a.block) == 0 {
		a.block = make([]T, arenaBlock)
	}
	v := &a.block[0]
	a.block = a.block[1:]
	return v
}

// Slice returns n zero values whose capacity is also n.
func (a *Arena[T]) Slice(n int) []T {
	if n > len(a.block) {
		if n > arenaBlock/4 {
			return make([]T, n)
		}
		a.block = make([]T, arenaBlock)
	}
	v := a.block[:n:n]
	a.block = a.block[n:]
	return v
}
