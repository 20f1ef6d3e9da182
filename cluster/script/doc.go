// Package script is the lab language: the one small language that drives
// everything a person can do to a cluster. Scenario tests, lesson blocks, the
// buttons of the page, shared links and tidemark run all speak it.
//
// A line is a statement. It is read against a table of forms (statements.go,
// conditions.go, events.go), each written as a person would write it with holes in
// it: "stop broker <brokers>". The same table prints a statement back, documents
// it, and says what was expected where a line goes wrong. Parse reads a whole file
// before anything is executed.
//
// A [Script] makes a cluster from its setup lines and a [Session] executes
// statements on it. The session folds the cluster's events into a
// [tidemark/cluster/trace.Snapshot] and evaluates conditions over that, over facts
// kept along the way (facts.go) and over the events so far (history.go): it looks
// at a cluster as everyone else does, from the outside.
package script
