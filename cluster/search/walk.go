package search

import (
	"strconv"

	"tidemark/cluster"
	"tidemark/cluster/sim"
)

// Walk draws a random walk: the links between brokers are held, and again and again either
// one of the messages that may arrive next does, or time passes, or a fault or a statement
// comes. A message may so take any time, within TCP's order on its connection; timers go
// off in the order of time, which is the same for all brokers.
//
// What a walk did is a schedule like any other: run, shrunk and written as one.
func Walk(o Options, seed uint64) Schedule {
	d := newDrawing(o, seed)
	d.Faults = sim.Never
	c, err := cluster.New(d.Config)
	if err != nil {
		panic("search: a walk without a cluster: " + err.Error()) // Options.Check has looked
	}
	for _, cmd := range d.Clients {
		if _, err := c.Do(cmd); err != nil {
			panic("search: " + err.Error())
		}
	}
	for i, a := range d.Config.Brokers {
		for _, b := range d.Config.Brokers[i+1:] {
			d.hold(cluster.Link{From: strconv.Itoa(int(a)), To: strconv.Itoa(int(b)), Both: true})
		}
	}
	if d.oneIn(4) {
		d.hold(cluster.Link{From: "zookeeper", To: strconv.Itoa(int(pick(d.random, d.Config.Brokers)))})
	}
	for _, u := range d.Units {
		_, _ = c.Do(u.Begin)
	}
	faults := 4 + d.below(12) // one in so many choices is a fault or a statement
	var ends []timed
	for range 60 + d.below(400) {
		arrivals := c.Deliverable()
		switch {
		case d.oneIn(faults):
			kind := Burst
			if d.oneIn(2) {
				kind = pick(d.random, d.kinds)
			}
			if u := d.unit(kind, c.Now()); u.Kind != HoldLink { // its end would let everything go
				d.do(c, u, &ends)
			}
		case len(arrivals) > 0 && !d.oneIn(4):
			d.do(c, Unit{Kind: Arrive, At: c.Now(), Begin: pick(d.random, arrivals)}, &ends)
		default:
			d.pass(c, &ends)
		}
	}
	d.Faults = c.Now()
	return d.Schedule
}

func (d *drawing) hold(l cluster.Link) {
	d.Units = append(d.Units, Unit{Kind: HoldLink, Begin: cluster.Hold{Link: l}})
}

// do does what a unit begins with, unless that is refused, and notes its end.
func (d *drawing) do(c *cluster.Cluster, u Unit, ends *[]timed) {
	if _, err := c.Do(u.Begin); err != nil {
		return
	}
	d.Units = append(d.Units, u)
	if u.End != nil {
		*ends = append(*ends, timed{u.At + u.For, u.End})
	}
}

// pass lets time pass: mostly as much as a message takes or less, sometimes seconds.
func (d *drawing) pass(c *cluster.Cluster, ends *[]timed) {
	to := c.Now() + d.between(sim.Millisecond, 100*sim.Millisecond)
	if d.oneIn(6) {
		to = c.Now() + d.between(100*sim.Millisecond, 8*sim.Second)
	}
	for {
		first := -1
		for i, e := range *ends {
			if e.at <= to && (first < 0 || e.at < (*ends)[first].at) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		e := (*ends)[first]
		*ends = append((*ends)[:first], (*ends)[first+1:]...)
		c.RunUntil(e.at)
		_, _ = c.Do(e.command)
	}
	c.RunUntil(to)
}
