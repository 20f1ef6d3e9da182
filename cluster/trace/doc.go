// Package trace is what the outside sees of a cluster: events, and the state that
// they add up to.
//
// Everything that happens is an [Event]: numbered without gaps, stamped with
// virtual time, and with the number of the event that caused it. A [Recorder]
// numbers them. A [Snapshot] is the visible state of the whole cluster;
// [Snapshot.Apply] folds an event into it. The law that holds the two together,
// and that tests enforce after every step, is
//
//	fold(events) == the snapshot taken from the nodes themselves
//
// so whoever has the stream has the state: the browser's model is the same fold
// in another language.
package trace
