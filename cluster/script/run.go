package script

import (
	"errors"
	"fmt"
	"io"

	"tidemark/cluster/trace"
)

// Status is how a run ended; its number is the exit status of tidemark run.
type Status int

// The statuses.
const (
	Held   Status = 0 // every expectation held
	Failed Status = 1 // an expect failed, or a run until or settle ran out
	Broken Status = 2 // the script could not be read or executed
)

// StatusOf is the status that an error of this package stands for.
func StatusOf(err error) Status {
	var f *Failure
	switch {
	case err == nil:
		return Held
	case errors.As(err, &f):
		return Failed
	}
	return Broken
}

// Run executes the script from the start. What it shows is written to show. It stops
// at the first error, a *Failure or an *Error, and returns the session as it was
// then, nil when the cluster could not be made. A broken invariant of the cluster
// itself, which panics there, is an *Error here.
func (s *Script) Run(show io.Writer, sinks ...func(*trace.Event)) (x *Session, err error) {
	at := Statement{File: s.File}
	defer func() {
		if r := recover(); r != nil {
			err = at.errorf("the cluster failed: %v", r)
		}
	}()
	x, done, err := s.start(sinks)
	if err != nil {
		return nil, err
	}
	for _, at = range s.Statements[done:] {
		r, err := x.Execute(at)
		if err != nil {
			return x, err
		}
		if r.Output != "" {
			if _, err := io.WriteString(show, r.Output); err != nil {
				return x, fmt.Errorf("script: show: %w", err)
			}
		}
	}
	if x.trace != nil && x.trace.err != nil {
		return x, fmt.Errorf("script: trace: %w", x.trace.err)
	}
	return x, nil
}
