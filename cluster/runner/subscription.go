package runner

import (
	"context"
	"time"

	"tidemark/cluster/sim"
)

// Update is what a subscription has not seen yet. The parts are in the order in which
// they are to be applied: snapshot, events, status.
type Update struct {
	Run   int    // number of the run, from 1
	Kafka string // its release line

	Snapshot []byte // JSON of a trace.Snapshot; nil when events are enough
	Behind   bool   // there is a snapshot because the reader was too slow

	From   sim.Seq  // number of the first event, or of the next when there is none
	Events [][]byte // JSON of a trace.Event each; read only
	Time   sim.Time // the present

	Status  Status
	Changed bool // the status is another than last time, or news to this subscription
}

// Subscription pulls the events of a cluster. After Ask, one Update comes as soon as
// there is something to tell, at most one every [Limits].TickEvery. A subscription
// that does not ask costs the runner nothing. It belongs to one goroutine.
type Subscription struct {
	runner  *Runner
	updates chan Update

	// Owned by the runner's goroutine.
	run     int     // the run that next belongs to; 0: none, a snapshot is needed
	next    sim.Seq // the event it wants next
	version uint64  // of the status that it knows
	asked   bool
	given   time.Time
}

// Subscribe begins to watch the cluster: with a snapshot, or after what the reader
// has already seen when run is the present one and the event numbered from is still
// kept or yet to come. The caller must Close it.
func (r *Runner) Subscribe(ctx context.Context, run int, from sim.Seq) (*Subscription, error) {
	s := &Subscription{runner: r, updates: make(chan Update, 1), run: run, next: from}
	return ask(ctx, r, func(l *loop) (*Subscription, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // nobody would close it
		}
		if s.run != l.number || !l.ring.has(s.next) {
			s.run = 0
		}
		l.subscribe(s)
		return s, nil
	})
}

// Ask asks for one update. Asking again before it has come does nothing.
func (s *Subscription) Ask(ctx context.Context) error {
	_, err := ask(ctx, s.runner, func(*loop) (struct{}, error) {
		s.asked = true
		return struct{}{}, nil
	})
	return err
}

// Updates is where updates come.
func (s *Subscription) Updates() <-chan Update { return s.updates }

// Close ends the subscription.
func (s *Subscription) Close() {
	_, _ = ask(context.Background(), s.runner, func(l *loop) (struct{}, error) {
		l.unsubscribe(s)
		return struct{}{}, nil
	})
}

// due is when a subscription is to be given an update; false: not before something happens.
func (l *loop) due(s *Subscription) (time.Time, bool) {
	switch {
	case !s.asked || len(s.updates) > 0:
		return time.Time{}, false
	case s.run != l.number || s.next != l.ring.next() || s.version != l.version:
		return s.given.Add(l.cfg.Limits.TickEvery), true
	case l.running():
		return s.given.Add(l.cfg.Limits.TimeEvery), true
	}
	return time.Time{}, false
}

// give gives every subscription what is due.
func (l *loop) give() {
	now := time.Now()
	for _, s := range l.subs {
		if at, ok := l.due(s); ok && !at.After(now) {
			s.asked, s.given = false, now
			s.updates <- l.update(s) // has room: see due
		}
	}
}

func (l *loop) update(s *Subscription) Update {
	u := Update{Run: l.number, Kafka: l.kafka}
	if known := s.run == l.number; !known || !l.ring.has(s.next) {
		u.Behind = known
		u.Changed = true
		if snapshot, seq := l.encodeSnapshot(); snapshot != nil {
			u.Snapshot = snapshot
			s.next = seq + 1
		} else {
			s.next = l.ring.next()
		}
		s.run = l.number
	}
	u.From, u.Events = s.next, l.ring.since(s.next)
	s.next = l.ring.next()
	u.Status = l.status()
	u.Time = u.Status.Time
	u.Changed = u.Changed || s.version != l.version
	s.version = l.version
	return u
}
