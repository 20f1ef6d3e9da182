package cluster

import (
	"slices"

	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Recording is a run as data: made from Config, with these commands at these times.
type Recording struct {
	Config   Config
	Commands []TimedCommand
}

// TimedCommand is a command, when it was given, and the number of steps that had been
// taken before it.
type TimedCommand struct {
	At      sim.Time
	Steps   uint64
	Command Command
}

// Recording is the run so far.
func (c *Cluster) Recording() Recording {
	return Recording{Config: c.config, Commands: slices.Clone(c.commands)}
}

// Replay makes a cluster again from its recording, up to a time: the same steps in
// the same order, with the same running hash.
func Replay(r Recording, until sim.Time, sinks ...func(*trace.Event)) (*Cluster, error) {
	c, err := New(r.Config, sinks...)
	if err != nil {
		return nil, err
	}
	for _, x := range r.Commands {
		if x.At > until {
			break
		}
		for c.Steps() < x.Steps {
			c.Step()
		}
		c.sched.Advance(x.At)
		if _, err := c.Do(x.Command); err != nil {
			return nil, err
		}
	}
	c.RunUntil(until)
	return c, nil
}
