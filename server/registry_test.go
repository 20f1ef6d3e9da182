package server

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"tidemark/cluster/runner"
	"tidemark/cluster/trace"
)

func TestIds(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := newID()
		if len(id) != 22 || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestIdleClusterExpires(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		there := func() bool { return w.get("/c/"+id).StatusCode == http.StatusOK }
		for range 3 { // a request keeps it
			time.Sleep(29 * time.Minute)
			if !there() {
				t.Fatal("it expired although it was asked for")
			}
		}
		p := w.open(id)
		p.ok(`"op":"pause"`)
		time.Sleep(3 * time.Hour) // a connection keeps it
		p.ws.Close()
		time.Sleep(29 * time.Minute)
		if clusters, connections := w.server.registry.count(); clusters != 1 || connections != 0 {
			t.Fatalf("%d clusters, %d connections", clusters, connections)
		}
		time.Sleep(61 * time.Second)
		if there() {
			t.Error("it is still there after 30 minutes alone")
		}
	})
}

func TestTooManyClusters(t *testing.T) {
	inWorld(t, func(c *Config) { c.Limits.Clusters = 3 }, func(t *testing.T, w *world) {
		watched := w.cluster()
		p := w.open(watched)
		left := w.cluster()
		time.Sleep(10 * time.Second)
		later := w.cluster()
		resp := w.get("/")
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("one too many: %s", resp.Status)
		}
		time.Sleep(50 * time.Second)
		w.cluster() // in the place of the one that was left first
		for id, want := range map[string]int{watched: 200, left: 404, later: 200} {
			if resp := w.get("/c/" + id); resp.StatusCode != want {
				t.Errorf("%s, want %d", resp.Status, want)
			}
		}
		p.next("events")
	})
}

func TestAClusterThatCannotBeMadeTakesNoPlace(t *testing.T) {
	broken := true
	inWorld(t, func(c *Config) {
		c.Limits.Clusters = 1
		c.Make = func(kafka string, sink func(*trace.Event)) (runner.Run, error) {
			if broken {
				return nil, errors.New("cluster: no brokers")
			}
			return makeFake(kafka, sink)
		}
	}, func(t *testing.T, w *world) {
		for range 3 {
			if resp := w.get("/"); resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s", resp.Status)
			}
		}
		broken = false
		w.cluster()
	})
}

// With everyone gone, nothing in the process wakes until the clusters expire.
func TestIdleServerSleeps(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for range 50 {
			w.cluster()
		}
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		if clusters, _ := w.server.registry.count(); clusters != 50 {
			t.Errorf("%d clusters", clusters)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if clusters, _ := w.server.registry.count(); clusters != 0 {
			t.Errorf("%d clusters", clusters)
		}
	})
}
