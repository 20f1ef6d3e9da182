package runner

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// loop is the state of a runner; its goroutine owns it.
type loop struct {
	cfg Config

	number int // of the run, from 1
	kafka  string
	run    Run
	ring   ring
	failed string
	full   bool

	playing   bool // as people want it
	suspended bool // nobody has watched for a while
	clock     clock
	planned   time.Time // when the tick to come is due; zero: none is
	stepped   time.Time // when steps were last taken because they were due
	allowance float64   // events that may still happen
	refilled  time.Time // when allowance was last added to

	version   uint64 // of the status: changes are told to subscriptions
	subs      []*Subscription
	unwatched time.Time // since when there is no subscription

	story     uint64  // counts events that are not quiet
	statement sim.Seq // of the latest statement_executed event

	snapshot    []byte // encoded, nil when a step was taken since
	snapshotSeq sim.Seq

	scratch []byte // where an event is encoded
	ticks   int    // counts what the clock caused, for tests
}

func newLoop(cfg Config) *loop {
	now := time.Now()
	l := &loop{cfg: cfg, playing: true, unwatched: now, stepped: now.Add(-cfg.Limits.TickEvery), refilled: now, version: 1}
	l.clock.speed = DefaultSpeed
	l.allowance = l.burst()
	return l
}

// main serves requests and lets time pass until quit.
func (l *loop) main(requests <-chan func(), quit <-chan struct{}) {
	timer := time.NewTimer(farOff)
	timer.Stop()
	for {
		var due <-chan time.Time
		if l.planned = l.wake(); !l.planned.IsZero() {
			timer.Reset(time.Until(l.planned))
			due = timer.C
		}
		select {
		case <-quit:
			return
		case request := <-requests:
			// A request meets the cluster at the present time, not at that of the last tick.
			l.advance()
			request()
		case <-due:
			l.ticks++
			l.suspendIfUnwatched()
			l.advance()
		}
		timer.Stop()
		l.give()
	}
}

// running reports whether virtual time passes.
func (l *loop) running() bool {
	return l.playing && !l.suspended && l.failed == "" && !l.full
}

// wake is when the loop has something to do next without being asked; zero: never.
func (l *loop) wake() (at time.Time) {
	earliest := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if l.running() {
		if next, ok := l.next(); ok {
			due := l.clock.when(next)
			if t := l.stepped.Add(l.cfg.Limits.TickEvery); due.Before(t) {
				due = t
			}
			earliest(due)
		}
		if len(l.subs) == 0 {
			earliest(l.unwatched.Add(l.cfg.Limits.IdleAfter))
		}
	}
	for _, s := range l.subs {
		if t, ok := l.due(s); ok {
			earliest(t)
		}
	}
	return at
}

func (l *loop) next() (at sim.Time, ok bool) {
	l.protect(func() { at, ok = l.run.Next() })
	return at, ok
}

// advance takes the steps that are due, within the limits of a tick. What cannot be
// done in time is not made up for later.
func (l *loop) advance() {
	if !l.running() {
		return
	}
	limits := &l.cfg.Limits
	started := time.Now()
	if late := started.Sub(l.planned); !l.planned.IsZero() && late > limits.Lateness {
		l.clock.wall = l.clock.wall.Add(late)
	}
	l.allowance = min(l.burst(), l.allowance+started.Sub(l.refilled).Seconds()*float64(limits.EventsPerSecond))
	l.refilled = started
	target := l.clock.at(started)
	l.protect(func() {
		for steps := 0; ; steps++ {
			next, ok := l.run.Next()
			if !ok || next > target {
				l.run.RunUntil(target) // takes no step, makes target the present
				return
			}
			if l.allowance < 1 || steps == limits.TickSteps || time.Since(started) > limits.TickTime {
				l.clock.set(time.Now(), l.run.Now())
				return
			}
			before := l.ring.next()
			l.stepped = started
			if !l.stepUntil(target) {
				continue // what was due came to nothing
			}
			l.allowance -= float64(l.ring.next() - before)
			if l.checkFull() {
				return
			}
		}
	})
}

// burst is how many events may happen at once when it was quiet before.
func (l *loop) burst() float64 { return float64(l.cfg.Limits.EventsPerSecond) / 20 }

func (l *loop) stepUntil(t sim.Time) bool {
	l.snapshot = nil
	return l.run.StepUntil(t)
}

func (l *loop) checkFull() bool {
	if !l.full && int(l.ring.next()-1) >= l.cfg.Limits.RunEvents {
		l.full = true
		l.version++
	}
	return l.full
}

// suspendIfUnwatched stops time when nobody has watched for too long.
func (l *loop) suspendIfUnwatched() {
	if len(l.subs) == 0 && l.running() && time.Since(l.unwatched) >= l.cfg.Limits.IdleAfter {
		l.advance()
		l.suspended = true
	}
}

// begin makes a run and puts it in the place of the present one.
func (l *loop) begin(kafka string) error {
	var run Run
	var err error
	var early []trace.Event // the names are not known before the run is made
	sink := func(e *trace.Event) { early = append(early, *e) }
	message := caught(func() { run, err = l.cfg.Make(kafka, func(e *trace.Event) { sink(e) }) }, l.cfg.Failed)
	if message != "" {
		return fmt.Errorf("runner: the run cannot be made: %s", message)
	}
	if err != nil {
		return err
	}
	l.run, l.kafka, l.ring = run, kafka, newRing(&l.cfg.Limits)
	l.number++
	l.failed, l.full, l.snapshot, l.statement = "", false, nil, 0
	sink = l.observe
	l.protect(func() {
		for i := range early {
			l.observe(&early[i])
		}
	})
	early = nil
	l.checkFull()
	l.clock.set(time.Now(), l.run.Now())
	l.version++
	return nil
}

// observe encodes an event and keeps it.
func (l *loop) observe(e *trace.Event) {
	l.scratch = e.AppendJSON(l.scratch[:0], l.run.Names())
	l.ring.add(l.scratch)
	if !e.Kind.Quiet() {
		l.story++
	}
	if e.Kind == trace.StatementExecuted {
		l.statement = e.Seq
	}
}

func (l *loop) restart(kafka string) (Result, error) {
	if kafka == "" {
		kafka = l.kafka
	}
	if err := l.begin(kafka); err != nil {
		return Result{}, err
	}
	return l.result(), nil
}

// able says why a run cannot go on, if so.
func (l *loop) able() error {
	switch {
	case l.failed != "":
		return ErrFailed
	case l.full:
		return ErrFull
	}
	return nil
}

func (l *loop) execute(statement string) (Result, error) {
	if err := l.able(); err != nil {
		return Result{}, err
	}
	var output string
	var err error
	l.statement, l.snapshot = 0, nil
	before := l.ring.next()
	l.protect(func() { output, err = l.run.Execute(statement) })
	l.allowance -= float64(l.ring.next() - before)
	l.checkFull()
	switch {
	case l.failed != "":
		return Result{}, ErrFailed
	case err != nil:
		return Result{}, err
	}
	result := l.result()
	result.Output = output
	if l.statement != 0 {
		result.Seq = l.statement
	}
	return result, nil
}

func (l *loop) play(playing bool) (Result, error) {
	if err := l.able(); err != nil {
		return Result{}, err
	}
	if playing != l.playing {
		l.clock.set(time.Now(), l.run.Now())
		l.playing = playing
		l.version++
	}
	return l.result(), nil
}

func (l *loop) step(story bool) (Result, error) {
	if err := l.able(); err != nil {
		return Result{}, err
	}
	l.playing = false
	l.version++
	first, before := l.ring.next(), l.story
	found := false
	l.protect(func() {
		for range l.cfg.Limits.SearchSteps {
			if !l.stepUntil(sim.Never) || l.checkFull() {
				return
			}
			events := int(l.ring.next() - first)
			if found = l.story > before || !story && events > 0; found || events > l.cfg.Limits.SearchEvents {
				return
			}
		}
	})
	if err := l.able(); err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, ErrQuiet
	}
	return l.result(), nil
}

func (l *loop) setSpeed(speed float64) (Result, error) {
	if !(speed >= MinSpeed && speed <= MaxSpeed) { // so that NaN is refused too
		return Result{}, ErrSpeed
	}
	if speed != l.clock.speed {
		l.clock.set(time.Now(), l.now())
		l.clock.speed = speed
		l.version++
	}
	return l.result(), nil
}

func (l *loop) result() Result { return Result{Seq: l.ring.next() - 1} }

// now is the present virtual time.
func (l *loop) now() (t sim.Time) {
	l.protect(func() { t = l.run.Now() })
	return t
}

func (l *loop) status() Status {
	return Status{
		Playing: l.playing && l.failed == "" && !l.full, Speed: l.clock.speed,
		Time: l.now(), Seq: l.ring.next() - 1, Failed: l.failed, Full: l.full,
	}
}

func (l *loop) recording() (text string, err error) {
	if message := caught(func() { text = l.run.Recording() }, l.cfg.Failed); message != "" {
		return "", fmt.Errorf("runner: the run cannot be recorded: %s", message)
	}
	return text, nil
}

// encodeSnapshot is the state of the run as JSON and the number it is the state at;
// nil when a failed run is too broken to tell.
func (l *loop) encodeSnapshot() ([]byte, sim.Seq) {
	if l.snapshot == nil {
		l.protect(func() {
			s := l.run.Snapshot()
			l.snapshot, l.snapshotSeq = s.AppendJSON(nil, l.run.Names()), s.Seq
		})
	}
	return l.snapshot, l.snapshotSeq
}

// protect calls f; a panic fails the run.
func (l *loop) protect(f func()) {
	message := caught(f, l.cfg.Failed)
	if message != "" && l.failed == "" {
		l.failed = message
		l.version++
	}
}

// caught calls f and returns what it panicked with, else nothing.
func caught(f func(), tell func(string, []byte)) (message string) {
	defer func() {
		if v := recover(); v != nil {
			message = fmt.Sprint(v)
			if message == "" {
				message = "panic"
			}
			if tell != nil {
				tell(message, debug.Stack())
			}
		}
	}()
	f()
	return ""
}

func (l *loop) subscribe(s *Subscription) {
	if l.suspended {
		l.suspended = false
		l.clock.set(time.Now(), l.now())
	}
	l.subs = append(l.subs, s)
}

func (l *loop) unsubscribe(s *Subscription) {
	i := slices.Index(l.subs, s)
	if i < 0 {
		return
	}
	l.subs = slices.Delete(l.subs, i, i+1)
	if len(l.subs) == 0 {
		l.unwatched = time.Now()
	}
}
