package sim

// DrawPurpose separates the streams of random draws.
type DrawPurpose uint64

// Draw is keyed randomness: a function of the seed, the purpose, the key and the
// counter only. One more message in a run therefore does not change the luck of
// any other, which is what makes two runs comparable.
func (s *Scheduler) Draw(purpose DrawPurpose, key, counter uint64) uint64 {
	x := mix(s.seed ^ 0x9e3779b97f4a7c15)
	x = mix(x ^ uint64(purpose))
	x = mix(x ^ key)
	return mix(x ^ counter)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
