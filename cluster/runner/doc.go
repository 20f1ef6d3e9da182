// Package runner lets people watch a cluster: it maps wall time to virtual time.
//
// A cluster of the core has no clock and no goroutine; it takes a step when told to.
// A [Runner] is the one goroutine that tells it. While it plays, the runner sleeps
// until the wall time at which the next step is due at the present speed, takes it,
// and sleeps again. While it is paused it waits on a channel and costs nothing, and
// so it does when nobody has watched for a while.
//
// A runner never catches up. When the machine is slow, or a run has more to do in a
// while than the limits allow, virtual time falls behind and the lost wall time is
// forgotten: a tick has bounded work, so a busy cluster is slow but always answers.
//
// Every event is encoded once, when it happens, and kept in a ring. Whoever watches
// holds only the number of the next event it wants and asks for what there is
// ([Subscription]); so a slow reader has no queue. One that has fallen off the ring
// gets a snapshot, which is taken by the runner's goroutine between two steps and
// therefore agrees with its number.
//
// The core panics when one of its own invariants is broken. That ends here: the run
// is marked failed, says why, and can still be recorded; the process goes on.
//
// Everything that belongs to a run is touched by the runner's goroutine alone.
// Others hand it functions over a channel; there are no locks.
package runner
