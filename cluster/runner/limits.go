package runner

import "time"

// Limits bounds what one cluster may cost. Every limit of the package is here.
type Limits struct {
	// KeptEvents and KeptBytes bound the ring of encoded events: a reader that is
	// further behind gets a snapshot.
	KeptEvents int
	KeptBytes  int

	// RunEvents is the number of events after which a run is full: it stops and
	// accepts only a restart.
	RunEvents int

	// EventsPerSecond bounds the events a second of wall time; virtual time falls
	// behind when a run wants more. A burst of a twentieth of it is allowed.
	EventsPerSecond int

	// TickSteps and TickTime bound what is done before requests are looked at again.
	TickSteps int
	TickTime  time.Duration

	// TickEvery is the least time between two ticks that the clock causes, and between
	// two updates of one subscription.
	TickEvery time.Duration

	// TimeEvery is how often a subscription hears that time passed when nothing happens.
	TimeEvery time.Duration

	// Lateness is how late a tick may come and still be made up for. What is beyond it
	// (a machine that slept) is lost wall time.
	Lateness time.Duration

	// IdleAfter is how long a cluster plays without being watched. After that its
	// virtual time stands still until someone comes.
	IdleAfter time.Duration

	// SearchEvents and SearchSteps bound a step that looks for an event.
	SearchEvents int
	SearchSteps  int
}

// DefaultLimits are the limits of a served cluster.
func DefaultLimits() Limits {
	return Limits{
		KeptEvents:      8192,
		KeptBytes:       2 << 20,
		RunEvents:       1_000_000,
		EventsPerSecond: 20_000,
		TickSteps:       2_000,
		TickTime:        8 * time.Millisecond,
		TickEvery:       16 * time.Millisecond,
		TimeEvery:       50 * time.Millisecond,
		Lateness:        250 * time.Millisecond,
		IdleAfter:       2 * time.Minute,
		SearchEvents:    5_000,
		SearchSteps:     20_000,
	}
}

// Speed is virtual time over wall time.
const (
	MinSpeed     = 0.001
	MaxSpeed     = 20.0
	DefaultSpeed = 1.0 / 12 // a hop of 50 ms takes 600 ms on the screen
)
