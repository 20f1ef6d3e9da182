package search

import (
	"slices"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Shrink makes a failing schedule smaller while it fails in the same way: first without
// the units that do not matter (delta debugging, Zeller and Hildebrandt 2002), then with
// a simpler cluster, shorter and rounder times and weaker faults. It makes at most budget
// runs and returns the schedule, what became of it, and how many runs it took.
func Shrink(s Schedule, f *Failure, run func(Schedule) Outcome, budget int) (Schedule, Outcome, int) {
	x := &shrinking{best: s.clone(), want: f, run: run, budget: budget}
	x.outcome = run(x.best)
	if !f.Same(x.outcome.Failure) {
		return x.best, x.outcome, 1
	}
	for x.runs = 1; x.runs < budget; {
		before := x.accepted
		x.afterwards()
		x.fewerUnits()
		x.simplerCluster()
		x.simplerUnits()
		if x.accepted == before {
			break
		}
	}
	return x.best, x.outcome, x.runs
}

type shrinking struct {
	best     Schedule
	outcome  Outcome
	want     *Failure
	run      func(Schedule) Outcome
	runs     int
	budget   int
	accepted int
}

// try runs a smaller schedule and keeps it if it fails in the same way.
func (x *shrinking) try(change func(*Schedule)) bool {
	if x.runs >= x.budget {
		return false
	}
	s := x.best.clone()
	change(&s)
	if !runnable(&s) {
		return false
	}
	x.runs++
	o := x.run(s)
	if !x.want.Same(o.Failure) {
		return false
	}
	x.best, x.outcome = s, o
	x.accepted++
	return true
}

// runnable reports whether a cluster can be made of a schedule.
func runnable(s *Schedule) bool {
	if len(s.Config.Brokers) == 0 || len(s.Config.Partitions) == 0 {
		return false
	}
	c := s.Config.Controller
	if c != 0 && !slices.Contains(s.Config.Brokers, c) {
		return false
	}
	for _, p := range s.Config.Partitions {
		for _, b := range p.Replicas {
			if !slices.Contains(s.Config.Brokers, b) {
				return false
			}
		}
	}
	return true
}

// afterwards drops what comes after a failure, or, when that comes after the healing, the
// time in which nothing happens any more.
func (x *shrinking) afterwards() {
	end := x.outcome.Failure.At
	if end < x.best.Faults {
		late := func(u Unit) bool { return u.At > end }
		if slices.ContainsFunc(x.best.Units, late) || x.best.Faults > end {
			x.try(func(s *Schedule) { s.Units, s.Faults = slices.DeleteFunc(s.Units, late), end })
		}
		return
	}
	last := sim.Time(0)
	for _, u := range x.best.Units {
		last = max(last, min(u.At+u.For, x.best.Faults))
	}
	if last < x.best.Faults {
		x.try(func(s *Schedule) { s.Faults = last })
	}
}

// fewerUnits leaves out groups of units, ever smaller ones.
func (x *shrinking) fewerUnits() {
	for size := (len(x.best.Units) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(x.best.Units); {
			if !x.try(func(s *Schedule) { s.Units = slices.Delete(s.Units, from, min(from+size, len(s.Units))) }) {
				from += size
			}
		}
	}
}

// simplerCluster tries without each setting, client, partition and broker.
func (x *shrinking) simplerCluster() {
	if x.best.Rolling {
		x.try(func(s *Schedule) { s.Rolling = false })
	}
	for i := len(x.best.Config.Settings) - 1; i >= 0; i-- {
		x.try(func(s *Schedule) { s.Config.Settings = slices.Delete(s.Config.Settings, i, i+1) })
	}
	for i := len(x.best.Clients) - 1; i >= 0; i-- {
		x.try(func(s *Schedule) { s.Clients = slices.Delete(s.Clients, i, i+1) })
	}
	if n := len(x.best.Config.Partitions); n > 1 {
		x.try(func(s *Schedule) {
			gone := s.Config.Partitions[n-1].Partition
			s.Config.Partitions = s.Config.Partitions[:n-1]
			s.Clients = slices.DeleteFunc(s.Clients, func(c cluster.Command) bool {
				switch c := c.(type) {
				case cluster.AddProducer:
					return c.Partition == gone
				case cluster.AddReader:
					return c.Partition == gone
				}
				return false
			})
		})
	}
	for i := len(x.best.Config.Brokers) - 1; i >= 0; i-- {
		x.try(func(s *Schedule) { s.Config.Brokers = slices.Delete(s.Config.Brokers, i, i+1) })
	}
	for i := range x.best.Config.Partitions {
		for k := len(x.best.Config.Partitions[i].Replicas) - 1; k >= 0 && len(x.best.Config.Partitions[i].Replicas) > 1; k-- {
			x.try(func(s *Schedule) {
				p := &s.Config.Partitions[i]
				p.Replicas = slices.Delete(slices.Clone(p.Replicas), k, k+1)
			})
		}
	}
	if x.best.Config.Controller != 0 {
		x.try(func(s *Schedule) { s.Config.Controller = 0 })
	}
	for i, c := range x.best.Clients {
		if p, ok := c.(cluster.AddProducer); ok && (p.Retries != 0 || p.Timeout != cluster.DefaultTimeout || p.Inflight != cluster.DefaultInflight) {
			p.Retries, p.Timeout, p.Inflight = 0, cluster.DefaultTimeout, cluster.DefaultInflight
			x.try(func(s *Schedule) { s.Clients[i] = p })
		}
	}
}

// simplerUnits makes each unit shorter, weaker and rounder.
func (x *shrinking) simplerUnits() {
	if len(x.best.Units) > 0 {
		first := x.best.Units[0].At
		for _, u := range x.best.Units {
			first = min(first, u.At)
		}
		if early := first - first%sim.Second; early > 0 {
			x.try(func(s *Schedule) {
				for i := range s.Units {
					s.Units[i].At -= early
				}
				s.Faults -= early
			})
		}
	}
	for i := range x.best.Units {
		for _, weaker := range weakerCommands(x.best.Units[i]) {
			x.try(func(s *Schedule) {
				s.Units[i].Kind, s.Units[i].Begin, s.Units[i].End = weaker.Kind, weaker.Begin, weaker.End
			})
		}
		if u := x.best.Units[i]; u.End != nil {
			// What ends only after the failure needs no end.
			if u.At+u.For >= min(x.best.Faults, x.outcome.Failure.At) {
				x.try(func(s *Schedule) { s.Units[i].End, s.Units[i].For = nil, 0 })
			}
			for _, to := range rounder(u.For) {
				if x.try(func(s *Schedule) { s.Units[i].For = to }) {
					break
				}
			}
		}
		for _, to := range rounder(x.best.Units[i].At) {
			if x.try(func(s *Schedule) { s.Units[i].At = to }) {
				break
			}
		}
	}
}

// rounder lists times near one that are easier to read, roundest first.
func rounder(t sim.Time) []sim.Time {
	var l []sim.Time
	for _, unit := range []sim.Time{sim.Second, 100 * sim.Millisecond, 10 * sim.Millisecond} {
		if t%unit == 0 {
			break
		}
		l = append(l, t-t%unit)
		if up := t - t%unit + unit; unit < sim.Second {
			l = append(l, up)
		}
	}
	return slices.DeleteFunc(l, func(x sim.Time) bool { return x == 0 })
}

// weakerCommands lists what a unit could be instead and be easier to understand.
func weakerCommands(u Unit) []Unit {
	var l []Unit
	unit := func(k Kind, begin, end cluster.Command) { l = append(l, Unit{Kind: k, Begin: begin, End: end}) }
	each := func(brokers []protocol.Broker, f func([]protocol.Broker)) {
		if len(brokers) > 1 {
			for i := range brokers {
				f(slices.Delete(slices.Clone(brokers), i, i+1))
			}
		}
	}
	oneWay := func(l cluster.Link, f func(cluster.Link)) {
		if l.Both {
			f(cluster.Link{From: l.From, To: l.To})
			f(cluster.Link{From: l.To, To: l.From})
		}
	}
	switch b := u.Begin.(type) {
	case cluster.SendNumbered:
		for n := 1; n < b.Count; n++ {
			unit(u.Kind, cluster.SendNumbered{Producer: b.Producer, Count: n}, nil)
		}
	case cluster.PowerOff:
		unit(Crash, cluster.StopBrokers{Brokers: b.Brokers}, u.End)
		each(b.Brokers, func(rest []protocol.Broker) {
			unit(u.Kind, cluster.PowerOff{Brokers: rest, Keep: -1}, ended(u.End, cluster.StartBrokers{Brokers: rest}))
		})
	case cluster.StopBrokers:
		each(b.Brokers, func(rest []protocol.Broker) {
			unit(u.Kind, cluster.StopBrokers{Brokers: rest}, ended(u.End, cluster.StartBrokers{Brokers: rest}))
		})
	case cluster.Isolate:
		name := cluster.Link{From: "zookeeper", To: b.String()[len("isolate "):], Both: true}
		unit(CutLink, cluster.Cut{Link: name}, ended(u.End, cluster.Heal{Link: &name}))
	case cluster.Cut:
		oneWay(b.Link, func(l cluster.Link) { unit(u.Kind, cluster.Cut{Link: l}, ended(u.End, cluster.Heal{Link: &l})) })
	case cluster.Hold:
		oneWay(b.Link, func(l cluster.Link) { unit(u.Kind, cluster.Hold{Link: l}, ended(u.End, cluster.Release{Link: l})) })
	case cluster.Slow:
		oneWay(b.Link, func(l cluster.Link) {
			unit(u.Kind, cluster.Slow{Link: l, By: b.By}, ended(u.End, cluster.Slow{Link: l}))
		})
	}
	return l
}

// ended is the end of a weaker unit, if the unit had one.
func ended(end, instead cluster.Command) cluster.Command {
	if end == nil {
		return nil
	}
	return instead
}
