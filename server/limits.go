package server

import (
	"time"

	"tidemark/cluster/runner"
)

// Limits bounds what visitors can make the process do. Every limit of the package is
// here; those of one cluster are the runner's.
type Limits struct {
	Cluster runner.Limits

	Clusters    int           // clusters in the process
	Idle        time.Duration // a cluster without connection and request expires after this
	EvictAfter  time.Duration // at the limit, one that was left this long ago makes room
	Connections int           // sockets of one cluster

	FrameBytes     int     // of one frame from a page; longer ones end the connection
	StatementBytes int     // of one statement
	Requests       float64 // a second and connection, in the long run
	Burst          int     // of requests

	Answer      time.Duration // a runner must have carried out a request within this
	Write       time.Duration // a frame must be written within this
	Ping        time.Duration // a connection is pinged this often
	Pong        time.Duration // and has this long to answer
	Close       time.Duration // a closed connection has this long to say goodbye
	HeaderBytes int           // of an HTTP request
}

// DefaultLimits suit a class of thirty on a small machine, and more.
func DefaultLimits() Limits {
	return Limits{
		Cluster:        runner.DefaultLimits(),
		Clusters:       200,
		Idle:           30 * time.Minute,
		EvictAfter:     time.Minute,
		Connections:    64,
		FrameBytes:     4096,
		StatementBytes: 1000,
		Requests:       20,
		Burst:          40,
		Answer:         5 * time.Second,
		Write:          10 * time.Second,
		Ping:           20 * time.Second,
		Pong:           10 * time.Second,
		Close:          time.Second,
		HeaderBytes:    16 << 10,
	}
}
