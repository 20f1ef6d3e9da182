// Package sim is the world that the cluster lives in: virtual time, nodes,
// timers and a network, and nothing of Kafka.
//
// A [Scheduler] owns a set of [Node] values and a queue of what is pending:
// messages on their way, timers, closed connections. It takes the earliest
// one, hands it to its node as an [Input], and the node changes itself and
// writes effects into its [Outbox]. That is one step. It is atomic: nothing
// else runs meanwhile, and two runs from the same seed and statements take the
// same steps in the same order, bit for bit. There is no goroutine, no clock
// and no global randomness here or in any package that runs on it.
//
// The network behaves as TCP connections do. A FIFO is one direction of one
// connection ([Conn]): a broker's requests to another and its answers to that
// broker travel on different connections and may overtake each other. Messages
// are never duplicated and never reordered within a direction. A crash closes
// connections: what was sent still arrives, then the peer is told. A cut is
// silence: the peer has to find out by its own timeouts.
//
// Everything that happens is told to an [Observer], which numbers it.
package sim
