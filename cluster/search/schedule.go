package search

import (
	"cmp"
	"slices"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Schedule is a run as it is planned: a cluster, its clients, and what is done to it when.
type Schedule struct {
	Config  cluster.Config
	Clients []cluster.Command // given at time 0
	Units   []Unit
	// Faults is how long faults come; then everything is healed.
	Faults sim.Time
	// Rolling: after the healing the brokers are restarted one by one. The lines without
	// KIP-380 do not notice a broker that was back within its session, and it stays without
	// a role until an operator does that.
	Rolling bool
}

// Unit is a fault with its end, or something that is done once. A crash and the start
// after it are one unit, so that leaving a unit out leaves a sensible schedule.
type Unit struct {
	Kind  Kind
	At    sim.Time
	For   sim.Time // from Begin to End
	Begin cluster.Command
	End   cluster.Command // nil when there is nothing to end
}

// Kind says what sort of thing a unit does.
type Kind uint8

// The kinds.
const (
	Burst       Kind = iota // records
	ChangeAcks              // a producer's acks
	Crash                   // stop, start
	CrashAll                // several at once
	Power                   // power off, start
	Pause                   // freeze, thaw
	CutLink                 // cut, heal
	SlowLink                // slow, as before
	HoldLink                // hold, release
	HoldFetch               // of a follower
	HoldControl             // of the controller's requests for a broker
	Expire                  // a session
	Shutdown                // shut down, start
	Sync                    // flush, checkpoint
	Preferred               // preferred election
	Arrive                  // of one message, in a walk
	kindEnd
)

var kindNames = [kindEnd]string{"burst", "acks", "crash", "crash of several", "power", "pause", "cut", "slow", "hold",
	"hold fetches", "hold control", "expire", "shutdown", "flush or checkpoint", "preferred election", "arrival"}

func (k Kind) String() string { return kindNames[k] }

// timed is a command of a schedule at its time.
type timed struct {
	at      sim.Time
	command cluster.Command
}

// timeline is the units' commands in the order in which they come.
func (s *Schedule) timeline() []timed {
	var l []timed
	for _, u := range s.Units {
		l = append(l, timed{u.At, u.Begin})
		if u.End != nil {
			l = append(l, timed{u.At + u.For, u.End})
		}
	}
	slices.SortStableFunc(l, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return slices.DeleteFunc(l, func(t timed) bool { return t.at > s.Faults })
}

// clone copies what shrinking changes.
func (s *Schedule) clone() Schedule {
	c := *s
	c.Config.Brokers = slices.Clone(s.Config.Brokers)
	c.Config.Settings = slices.Clone(s.Config.Settings)
	c.Config.Partitions = slices.Clone(s.Config.Partitions)
	c.Clients = slices.Clone(s.Clients)
	c.Units = slices.Clone(s.Units)
	return c
}

// rules are the rules of the schedule's cluster; planned those of its line.
func (s *Schedule) rules() (effective, planned protocol.Rules) {
	line := s.Config.Line
	if line == "" {
		line = protocol.DefaultLine
	}
	planned, err := protocol.RulesOf(line)
	if err != nil {
		panic("search: " + err.Error())
	}
	effective = planned
	for _, r := range s.Config.Rules {
		if err := effective.Override(r.Name, r.Value); err != nil {
			panic("search: " + err.Error())
		}
	}
	return effective, planned
}
