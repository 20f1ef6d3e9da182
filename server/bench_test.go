package server

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tidemark/cluster/runner"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// listen serves over real sockets.
func listen(t testing.TB, cfg Config) (s *Server, host string) {
	t.Helper()
	s = New(cfg)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s}
	go h.Serve(listener)
	t.Cleanup(func() { s.Close(t.Context()); h.Close() })
	return s, listener.Addr().String()
}

// BenchmarkEventToSocket measures the way of an event from the core to a page: when
// it happened, to when its frame has been read from the socket. An operation is an
// event at every page.
func BenchmarkEventToSocket(b *testing.B) {
	for _, c := range []struct {
		pages int
		speed float64
	}{{1, 1.0 / 12}, {1, 1}, {1, 20}, {30, 1}} {
		b.Run(fmt.Sprintf("pages=%d/speed=%.2g", c.pages, c.speed), func(b *testing.B) {
			var mu sync.Mutex
			happened := map[uint64]time.Time{}
			s, host := listen(b, Config{Make: func(kafka string, sink func(*trace.Event)) (runner.Run, error) {
				return MakeRun(kafka, func(e *trace.Event) {
					mu.Lock()
					happened[uint64(e.Seq)] = time.Now()
					mu.Unlock()
					sink(e)
				})
			}})
			location := do(s, http.MethodGet, "/").Header.Get("Location")
			var delays []time.Duration
			var all sync.WaitGroup
			for i := range c.pages {
				ws, _, err := websocket.DefaultDialer.Dial("ws://"+host+location+"/socket", nil)
				if err != nil {
					b.Fatal(err)
				}
				defer ws.Close()
				if i == 0 {
					ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"op":"speed","id":1,"speed":%v}`, c.speed))
				}
				all.Go(func() {
					for n := 0; n < b.N; {
						_, data, err := ws.ReadMessage()
						at := time.Now()
						if err != nil {
							b.Error(err)
							return
						}
						f := decodeFrame(b, data)
						mu.Lock()
						for _, e := range f.Events {
							delays = append(delays, at.Sub(happened[e.Seq]))
							n++
						}
						mu.Unlock()
					}
				})
			}
			all.Wait()
			slices.Sort(delays)
			b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkIdleCluster measures what a cluster costs that nobody looks at. An
// operation is a cluster.
func BenchmarkIdleCluster(b *testing.B) {
	cfg := Config{Make: MakeRun, Limits: DefaultLimits()}
	cfg.Limits.Clusters = 1_000_000
	s := New(cfg)
	defer s.Close(b.Context())
	heap, goroutines := memory()
	for b.Loop() {
		if _, err := s.registry.create(); err != nil {
			b.Fatal(err)
		}
	}
	heapAfter, goroutinesAfter := memory()
	n, _ := s.registry.count()
	b.ReportMetric(float64(heapAfter-heap)/float64(n), "heap-B/cluster")
	b.ReportMetric(float64(goroutinesAfter-goroutines)/float64(n), "goroutines/cluster")
}

func memory() (heap uint64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// BenchmarkFullRun measures what a run costs when it is full, and how large its
// snapshot is then.
func BenchmarkFullRun(b *testing.B) {
	for b.Loop() {
		before, _ := memory()
		l := runner.DefaultLimits()
		n := 0
		r, err := MakeRun("2.4", func(*trace.Event) { n++ })
		if err != nil {
			b.Fatal(err)
		}
		for n < l.RunEvents {
			r.StepUntil(sim.Never)
		}
		after, _ := memory()
		begun := time.Now()
		snapshot := r.Snapshot().AppendJSON(nil, r.Names())
		b.ReportMetric(float64(time.Since(begun).Microseconds())/1000, "snapshot-ms")
		b.ReportMetric(float64(len(snapshot))/1e6, "snapshot-MB")
		b.ReportMetric(float64(after-before)/1e6, "heap-MB")
		b.ReportMetric(float64(r.Now())/60e6, "virtual-min")
		runtime.KeepAlive(r)
	}
}
