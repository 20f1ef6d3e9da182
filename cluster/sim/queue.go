package sim

// queue is a 4-ary heap over (time, order). Items are small values; what is
// pending sits in slots that are reused, so that a steady run allocates nothing.
type queue struct {
	heap  []item
	slots []pending
	free  []int32
}

type item struct {
	at    Time
	order uint64
	slot  int32
}

// pending is what will happen to a node.
type pending struct {
	kind       InputKind
	node       NodeID
	timer      TimerID
	generation uint32 // of the timer
	cause      Seq
	message    Message
}

func (a item) before(b item) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) push(at Time, order uint64, p *pending) {
	var slot int32
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
		q.slots[slot] = *p
	} else {
		slot = int32(len(q.slots))
		q.slots = append(q.slots, *p)
	}
	q.heap = append(q.heap, item{at, order, slot})
	i := len(q.heap) - 1
	it := q.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !it.before(q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = it
}

// pop removes the earliest item; its slot must be given back with release.
func (q *queue) pop() item {
	top := q.heap[0]
	last := q.heap[len(q.heap)-1]
	q.heap = q.heap[:len(q.heap)-1]
	if len(q.heap) > 0 {
		q.down(0, last)
	}
	return top
}

func (q *queue) down(i int, it item) {
	n := len(q.heap)
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(it) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = it
}

func (q *queue) release(slot int32) {
	q.slots[slot].message.Body = nil
	q.free = append(q.free, slot)
}

// removeIf takes out every pending thing for which drop is true, in order of
// time, and restores the heap.
func (q *queue) removeIf(drop func(*pending) bool, each func(*pending)) {
	kept := q.heap[:0]
	var dropped []item
	for _, it := range q.heap {
		if drop(&q.slots[it.slot]) {
			dropped = append(dropped, it)
		} else {
			kept = append(kept, it)
		}
	}
	q.heap = kept
	for i := (len(kept) - 2) / 4; i >= 0 && len(kept) > 1; i-- {
		q.down(i, q.heap[i])
	}
	sortItems(dropped)
	for _, it := range dropped {
		each(&q.slots[it.slot])
		q.release(it.slot)
	}
}

func (q *queue) clone() queue {
	return queue{
		heap:  append([]item(nil), q.heap...),
		slots: append([]pending(nil), q.slots...),
		free:  append([]int32(nil), q.free...),
	}
}
