package server

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tidemark/cluster/runner"
)

// Why a connection is closed, as the page is told.
const (
	reasonExpired  = "expired"  // the cluster is gone
	reasonShutdown = "shutdown" // the process ends
	reasonCrowded  = "crowded"  // the cluster has all the connections it may have
)

var (
	errClusters = errors.New("server: there are as many clusters as there may be")
	errShutdown = errors.New("server: shutting down")
	errGone     = errors.New("server: the cluster is gone")
	errCrowded  = errors.New("server: the cluster has all the connections it may have")
)

// hosted is a cluster of a visitor.
type hosted struct {
	id     string
	runner *runner.Runner
	gone   chan struct{} // closed when it is no more
	reason string        // why; set before gone is closed

	// Guarded by the registry's lock.
	connections int
	used        time.Time   // when someone last came, asked or left
	expiry      *time.Timer // runs while nobody is connected
}

// registry has the clusters of the process: makes, finds, expires, and closes them.
type registry struct {
	limits *Limits
	make   runner.Make
	kafka  string
	log    *slog.Logger

	mu       sync.Mutex
	clusters map[string]*hosted
	making   int // places taken by clusters that are being made
	closed   bool
}

func newRegistry(cfg *Config) *registry {
	return &registry{limits: &cfg.Limits, make: cfg.Make, kafka: cfg.Kafkas[0], log: cfg.Log, clusters: map[string]*hosted{}}
}

// newID is 128 random bits: what is in the address of a page is all one needs to
// drive its cluster.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the process would crash instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// create makes a cluster, in the place of one that was left if need be.
func (g *registry) create() (*hosted, error) {
	left, err := g.reserve()
	if err != nil {
		return nil, err
	}
	if left != nil {
		g.end(left, "evicted")
	}
	h := &hosted{id: newID(), gone: make(chan struct{}), used: time.Now()}
	h.runner, err = runner.New(runner.Config{
		Make: g.make, Kafka: g.kafka, Limits: g.limits.Cluster,
		Failed: func(message string, stack []byte) {
			g.log.Error("a cluster failed", "cluster", h.id[:6], "panic", message, "stack", string(stack))
		},
	})
	g.mu.Lock()
	g.making--
	closed := g.closed
	if err == nil && !closed {
		g.clusters[h.id] = h
		h.expiry = time.AfterFunc(g.limits.Idle, func() { g.expire(h) })
	}
	count := len(g.clusters)
	g.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case closed:
		h.runner.Close()
		return nil, errShutdown
	}
	g.log.Info("cluster made", "cluster", h.id[:6], "clusters", count)
	return h, nil
}

// reserve takes a place for a cluster. When there is none, the cluster that was left
// the longest time ago is taken out, if that is long enough; the caller ends it.
func (g *registry) reserve() (left *hosted, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errShutdown
	}
	if len(g.clusters)+g.making >= g.limits.Clusters {
		for _, h := range g.clusters {
			if h.connections == 0 && time.Since(h.used) >= g.limits.EvictAfter && (left == nil || h.used.Before(left.used)) {
				left = h
			}
		}
		if left == nil {
			return nil, errClusters
		}
		g.remove(left)
	}
	g.making++
	return left, nil
}

// find finds a cluster by its id. Being asked for keeps it alive.
func (g *registry) find(id string) (*hosted, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.clusters[id]
	if ok {
		g.touch(h)
	}
	return h, ok
}

// touch is called with the lock held.
func (g *registry) touch(h *hosted) {
	h.used = time.Now()
	if h.connections == 0 {
		h.expiry.Reset(g.limits.Idle)
	}
}

// enter counts a connection in; the caller must leave.
func (g *registry) enter(id string) (*hosted, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, ok := g.clusters[id]
	switch {
	case g.closed:
		return nil, errShutdown
	case !ok:
		return nil, errGone
	case h.connections >= g.limits.Connections:
		return nil, errCrowded
	}
	h.connections++
	h.expiry.Stop()
	return h, nil
}

// leave counts a connection out.
func (g *registry) leave(h *hosted) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.connections--
	if g.clusters[h.id] == h {
		g.touch(h)
	}
}

// expire is called by the timer of a cluster. It may come late, when someone has just come.
func (g *registry) expire(h *hosted) {
	g.mu.Lock()
	due := g.clusters[h.id] == h && h.connections == 0 && time.Since(h.used) >= g.limits.Idle
	if due {
		g.remove(h)
	}
	g.mu.Unlock()
	if due {
		g.end(h, reasonExpired)
	}
}

// remove is called with the lock held.
func (g *registry) remove(h *hosted) {
	delete(g.clusters, h.id)
	h.expiry.Stop()
}

// end closes a cluster that was removed.
func (g *registry) end(h *hosted, reason string) {
	h.reason = reason
	close(h.gone)
	h.runner.Close()
	g.log.Info("cluster ended", "cluster", h.id[:6], "reason", reason)
}

// close ends every cluster, and lets none be made any more.
func (g *registry) close() {
	g.mu.Lock()
	g.closed = true
	var all []*hosted
	for _, h := range g.clusters {
		g.remove(h)
		all = append(all, h)
	}
	g.mu.Unlock()
	var wait sync.WaitGroup
	for _, h := range all {
		wait.Go(func() { g.end(h, reasonShutdown) })
	}
	wait.Wait()
}

// count is the number of clusters and of connections.
func (g *registry) count() (clusters, connections int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.clusters {
		connections += h.connections
	}
	return len(g.clusters), connections
}
