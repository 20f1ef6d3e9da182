// Package server is Tidemark on the web: pages, clusters for visitors, and the
// socket over which a page watches and drives its cluster.
//
// A visitor who opens / gets a cluster of their own and is sent to its page, /c/{id}.
// The id cannot be guessed; whoever has the address sees and drives the same cluster.
// A cluster that nobody is connected to and nobody asks for expires.
//
// A connection is two goroutines. The reader takes one request after another, has the
// cluster's runner carry it out and hands the answer to the writer. The writer is the
// only one that writes: answers, and what it pulls from the runner's ring of events.
// A client that does not read blocks its own writer and nobody else, until the write
// deadline ends it; one that does not read answers is not read from either.
//
// Everything that comes from outside has a limit, and all limits are in limits.go.
package server
