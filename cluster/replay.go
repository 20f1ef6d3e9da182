package cluster

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Recording is a run as data: made from Config, with these commands at these times.
type Recording struct {
	Config   Config
	Commands []TimedCommand
	began    uint64 // steps taken before time 0
}

// TimedCommand is a command, when it was given, and the number of steps that had been
// taken before it. Midway: more steps of the same instant were still to come.
type TimedCommand struct {
	At      sim.Time
	Steps   uint64
	Midway  bool
	Command Command
	after   uint64 // steps that had been taken with it: telling a node something is one
}

// Recording is the run so far.
func (c *Cluster) Recording() Recording {
	return Recording{Config: c.config, Commands: slices.Clone(c.commands), began: c.began}
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
		if !x.Midway {
			c.RunUntil(x.At)
		}
		if _, err := c.Do(x.Command); err != nil {
			return nil, err
		}
	}
	c.RunUntil(until)
	return c, nil
}

// Lab writes the recording up to a time as a file of the lab language. Run, it makes the
// same run.
func (r Recording) Lab(until sim.Time) string {
	var b strings.Builder
	line := r.Config.Line
	if line == "" {
		line = protocol.DefaultLine
	}
	fmt.Fprintf(&b, "kafka %s\n", line)
	for _, x := range r.Config.Rules {
		fmt.Fprintf(&b, "rule %s %s\n", x.Name, x.Value)
	}
	fmt.Fprintf(&b, "seed %d\nbrokers%s", r.Config.Seed, ids(r.Config.Brokers))
	if r.Config.Controller != 0 {
		fmt.Fprintf(&b, ", controller %d", r.Config.Controller)
	}
	b.WriteByte('\n')
	for _, p := range r.Config.Partitions {
		fmt.Fprintln(&b, p)
	}
	for _, s := range r.Config.Settings {
		fmt.Fprintln(&b, s)
	}
	var last TimedCommand
	for i, x := range r.Commands {
		if x.At > until {
			break
		}
		if i == 0 {
			last = TimedCommand{after: r.began}
		}
		if p := Passage(x.At-last.At, x.Steps-last.after, x.Midway); p != "" {
			fmt.Fprintln(&b, p)
		}
		fmt.Fprintln(&b, x.Command)
		last = x
	}
	if p := Passage(until-last.At, 0, false); p != "" {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

// Passage is the statement of the lab language that lets so much time pass, in so many
// steps; empty when there is nothing to pass. Midway through an instant the steps have
// to be counted.
func Passage(took sim.Time, steps uint64, midway bool) string {
	switch {
	case steps > 0 && (took == 0 || midway):
		return fmt.Sprint("step ", steps)
	case took > 0:
		return "run " + protocol.FormatDuration(int64(took))
	}
	return ""
}
