package script

import "tidemark/cluster/sim"

// The limits of the language. Each is checked in one place and says so when met.
const (
	MaxFileBytes      = 1 << 20
	MaxLineBytes      = 1000
	MaxStatements     = 10_000
	MaxValueRunes     = 64     // of a record's value
	MaxNameRunes      = 32     // of a producer, reader or mark
	MaxRecordsPerSend = 10_000 // also of send P N
	MaxSteps          = 1_000_000
	MaxDuration       = 24 * 60 * sim.Minute
	MaxRetries        = 1_000_000
	MaxInflight       = 1000

	// UntilLimit is how long run until waits without a within; SettleLimit how long
	// settle does. Both are virtual time.
	UntilLimit  = 120 * sim.Second
	SettleLimit = 300 * sim.Second

	// MaxHistory is how many events a session remembers for seen, never and show
	// events. Beyond it the older half is forgotten: show events has no more, and seen
	// and never make the run again to look at it.
	MaxHistory = 1 << 15
)
