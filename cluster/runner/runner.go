package runner

import (
	"context"
	"sync"

	"tidemark/cluster/sim"
)

// Config is what a runner is made from.
type Config struct {
	Make   Make
	Kafka  string // release line of the first run
	Limits Limits

	// Failed, if not nil, is told of a panic in the core: what it said and the stack.
	// It is called by the runner's goroutine.
	Failed func(message string, stack []byte)
}

// Runner plays one cluster. Its methods may be called by any goroutine; each returns
// [ErrClosed] after Close, or the context's error when the runner did not get to it in time.
type Runner struct {
	requests chan func()
	quit     chan struct{} // closed by Close
	done     chan struct{} // closed when the goroutine has ended
	close    sync.Once
	loop     *loop // touched by functions sent to requests only
}

// New makes the first run and starts to play it at [DefaultSpeed]. It fails when the
// run cannot be made.
func New(cfg Config) (*Runner, error) {
	r := &Runner{requests: make(chan func()), quit: make(chan struct{}), done: make(chan struct{})}
	r.loop = newLoop(cfg)
	if err := r.loop.begin(cfg.Kafka); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.done)
		r.loop.main(r.requests, r.quit)
	}()
	return r, nil
}

// Close ends the runner's goroutine and waits for it. Subscriptions end with [ErrClosed].
func (r *Runner) Close() {
	r.close.Do(func() { close(r.quit) })
	<-r.done
}

// Done is closed when the runner has ended.
func (r *Runner) Done() <-chan struct{} { return r.done }

// ask has the runner's goroutine call f and returns what it returned.
func ask[T any](ctx context.Context, r *Runner, f func(*loop) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1) // so that the runner never waits for a caller that gave up
	var none T
	select {
	case r.requests <- func() {
		v, err := f(r.loop)
		answers <- answer{v, err}
	}:
	case <-r.done:
		return none, ErrClosed
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	select {
	case a := <-answers:
		return a.v, a.err
	case <-r.done:
		return none, ErrClosed
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// Result is what came of a statement or a step.
type Result struct {
	Seq    sim.Seq // the event that records the statement; else the latest event
	Output string  // what a statement prints
}

// Execute executes a statement at the present virtual time. An error of the statement
// is returned as the run gave it.
func (r *Runner) Execute(ctx context.Context, statement string) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.execute(statement) })
}

// Play lets virtual time pass, Pause stops it.
func (r *Runner) Play(ctx context.Context) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.play(true) })
}

// Pause stops virtual time.
func (r *Runner) Pause(ctx context.Context) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.play(false) })
}

// Step pauses and takes steps until one has produced an event; with story, until one
// has produced an event that is not quiet. It gives up with [ErrQuiet].
func (r *Runner) Step(ctx context.Context, story bool) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.step(story) })
}

// SetSpeed changes the speed, from [MinSpeed] to [MaxSpeed], or returns [ErrSpeed].
func (r *Runner) SetSpeed(ctx context.Context, speed float64) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.setSpeed(speed) })
}

// Restart throws the run away and begins the next, which behaves as the release line;
// empty: as the present one. Whether it plays and how fast stays. When the new run
// cannot be made, the old one goes on.
func (r *Runner) Restart(ctx context.Context, kafka string) (Result, error) {
	return ask(ctx, r, func(l *loop) (Result, error) { return l.restart(kafka) })
}

// Status is what the runner does now.
func (r *Runner) Status(ctx context.Context) (Status, error) {
	return ask(ctx, r, func(l *loop) (Status, error) { return l.status(), nil })
}

// Recording is the present run as text, also of one that has failed.
func (r *Runner) Recording(ctx context.Context) (string, error) {
	return ask(ctx, r, (*loop).recording)
}
