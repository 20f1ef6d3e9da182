package coord

import "tidemark/cluster/sim"

// Context is what a step of a broker hands down to its parts.
type Context struct {
	Now     sim.Time
	Out     *sim.Outbox
	Session *Session
}
