package search

import "tidemark/cluster/sim"

// random is a sequence of random numbers from a seed: SplitMix64 (Steele, Lea, Flood 2014).
type random struct{ state uint64 }

func newRandom(seed, stream uint64) *random {
	r := &random{seed}
	r.state = r.next() ^ stream*0xd1342543de82ef95
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	x := r.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below is a number from 0 to n−1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// oneIn is true once in n times.
func (r *random) oneIn(n int) bool { return r.below(n) == 0 }

// between is a time in whole milliseconds from lo to hi, short ones as likely as long
// ones: every doubling has the same share.
func (r *random) between(lo, hi sim.Time) sim.Time {
	doublings := 0
	for t := lo; t < hi; t *= 2 {
		doublings++
	}
	if doublings == 0 {
		return lo
	}
	from := lo << r.below(doublings)
	to := min(2*from, hi)
	ms := int((to - from) / sim.Millisecond)
	return from + sim.Time(r.below(ms+1))*sim.Millisecond
}

func pick[T any](r *random, l []T) T { return l[r.below(len(l))] }

// shuffle puts a list into a random order.
func shuffle[T any](r *random, l []T) {
	for i := len(l) - 1; i > 0; i-- {
		k := r.below(i + 1)
		l[i], l[k] = l[k], l[i]
	}
}
