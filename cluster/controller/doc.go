// Package controller is the part of every broker that may become the controller: the
// one broker that notices failures, elects leaders, and tells the others.
//
// As in Kafka since 0.11 it is one event loop: an event (a watch fired, a broker
// asks to shut down) is taken from a queue and handled to its end before the next.
// Handling one takes several round trips to ZooKeeper; so an event is a list of
// tasks, and a task is a state machine whose phases each submit a batch of
// operations and go on when all are answered. All of it is data: what the controller
// waits for can be seen, copied and compared.
//
// Every decision is a conditional write of a partition's state znode first, and a
// LeaderAndIsr request to the brokers concerned second. Requests for one broker
// leave in order, one at a time, and are repeated until they are answered or the
// broker is gone.
package controller
