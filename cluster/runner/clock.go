package runner

import (
	"math"
	"time"

	"tidemark/cluster/sim"
)

// clock maps wall time to virtual time: at wall it was virtual, and since then it
// goes on at speed. It keeps no running sum, so it does not drift.
type clock struct {
	wall    time.Time
	virtual sim.Time
	speed   float64 // virtual over wall
}

// set makes virtual the time at wall; the speed stays.
func (c *clock) set(wall time.Time, virtual sim.Time) { c.wall, c.virtual = wall, virtual }

// at is the virtual time at wall.
func (c *clock) at(wall time.Time) sim.Time {
	d := wall.Sub(c.wall)
	if d <= 0 {
		return c.virtual
	}
	return c.virtual + sim.Time(float64(d)/float64(time.Microsecond)*c.speed)
}

// farOff is as far ahead as a clock looks: a step further away is looked for again then.
const farOff = time.Hour

// when is the first wall time at which it is virtual time v, or farOff.
func (c *clock) when(v sim.Time) time.Time {
	d := float64(v-c.virtual) * float64(time.Microsecond) / c.speed
	if d >= float64(farOff) {
		return c.wall.Add(farOff)
	}
	return c.wall.Add(max(0, time.Duration(math.Ceil(d))))
}
