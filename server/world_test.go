package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// world is a server in a bubble of fake time, reached over pipes in memory.
type world struct {
	t      *testing.T
	server *Server
	pipes  *pipes
}

// inWorld runs a test in a bubble. It fails when a goroutine is left at the end.
func inWorld(t *testing.T, change func(*Config), test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Make: makeFake, Limits: DefaultLimits(), Version: "test"}
		if change != nil {
			change(&cfg)
		}
		w := &world{t: t, server: New(cfg), pipes: newPipes()}
		h := &http.Server{Handler: w.server}
		served := make(chan error)
		go func() { served <- h.Serve(w.pipes) }()
		defer func() { // also when the test gave up
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := w.server.Close(ctx); err != nil {
				t.Error("close:", err)
			}
			h.Close()
			<-served
		}()
		test(t, w)
	})
}

// get asks for a page, as a visitor whose headers are given in pairs.
func (w *world) get(path string, headers ...string) *http.Response {
	w.t.Helper()
	return do(w.server, http.MethodGet, path, headers...)
}

func do(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

// cluster makes a cluster and returns its id.
func (w *world) cluster() string {
	w.t.Helper()
	resp := w.get("/")
	id, ok := strings.CutPrefix(resp.Header.Get("Location"), "/c/")
	if resp.StatusCode != http.StatusSeeOther || !ok {
		w.t.Fatalf("/ answered %s, Location %q", resp.Status, resp.Header.Get("Location"))
	}
	return id
}

// dial connects to a cluster; query is what follows the ? of the address.
func (w *world) dial(id, query string) *browser {
	w.t.Helper()
	d := websocket.Dialer{NetDialContext: w.pipes.dial}
	ws, _, err := d.Dial("ws://tidemark.test/c/"+id+"/socket?"+query, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return newBrowser(w.t, ws)
}

// open connects and takes the first frames up to the snapshot.
func (w *world) open(id string) *browser {
	w.t.Helper()
	p := w.dial(id, "")
	p.next("hello")
	p.next("snapshot")
	return p
}

// pipes is a network in memory: the far end of each dial is accepted.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// frame is any frame from the server.
type frame struct {
	Op       string
	ID       int64
	Run      int
	Seq      uint64
	Cluster  string
	Kafka    string
	Kafkas   []string
	Limits   struct{ Statement, Frame, Events int }
	Snapshot struct {
		Seq  uint64
		Time int64
	}
	Status status
	From   uint64
	Time   int64
	Events []struct {
		Seq  uint64
		Time int64
		Kind string
		Text string
	}
	Reason string
	Output string
	Error  *struct {
		Message string
		Column  int
	}
}

func decodeFrame(t testing.TB, data []byte) (f frame) {
	t.Helper()
	if err := json.Unmarshal(data, &f); err != nil {
		t.Errorf("%v: %s", err, data)
	}
	return f
}

type status struct {
	Playing bool
	Speed   float64
	Time    int64
	Seq     uint64
	Failed  string
	Full    bool
}

// browser is the other end of a socket. It reads all the time and holds the frames to
// the law: events without gaps from the snapshot on, time that does not go back.
type browser struct {
	t      *testing.T
	ws     *websocket.Conn
	frames chan frame
	ended  error // why; set before frames is closed
	id     int64

	run    int
	want   uint64 // the next event
	time   int64
	status status
	at     time.Time // when the latest frame with events came
}

func newBrowser(t *testing.T, ws *websocket.Conn) *browser {
	p := &browser{t: t, ws: ws, frames: make(chan frame, 100_000)}
	go func() {
		defer close(p.frames)
		for {
			_, data, err := ws.ReadMessage()
			if err != nil {
				p.ended = err
				return
			}
			var f frame
			if err := json.Unmarshal(data, &f); err != nil {
				p.ended = errors.New("not JSON: " + string(data))
				return
			}
			p.frames <- f
		}
	}()
	t.Cleanup(func() { ws.Close() })
	return p
}

// patience is how long a page waits for a frame: in a bubble, of fake time.
const patience = 30 * time.Second

func (p *browser) read() (frame, bool) {
	p.t.Helper()
	select {
	case f, ok := <-p.frames:
		if ok {
			p.take(&f)
		}
		return f, ok
	case <-time.After(patience):
		p.t.Fatal("no frame came")
		return frame{}, false
	}
}

func (p *browser) take(f *frame) {
	p.t.Helper()
	switch f.Op {
	case "hello":
		p.run, p.time = f.Run, 0
	case "snapshot":
		p.want, p.status, p.time = f.Snapshot.Seq+1, f.Status, f.Snapshot.Time
	case "status":
		p.status = f.Status
	case "events":
		if f.From != p.want {
			p.t.Fatalf("events from %d, want %d", f.From, p.want)
		}
		for _, e := range f.Events {
			if e.Seq != p.want || e.Time > f.Time {
				p.t.Fatalf("event %+v, want number %d and not after %d", e, p.want, f.Time)
			}
			p.want++
		}
		if f.Time < p.time {
			p.t.Fatalf("time went back from %d to %d", p.time, f.Time)
		}
		p.time, p.at = f.Time, time.Now()
	}
	if f.Op != "result" && f.Op != "closed" && f.Run != p.run {
		p.t.Fatalf("%s of run %d in run %d", f.Op, f.Run, p.run)
	}
}

// next reads up to the first frame of a kind.
func (p *browser) next(op string) frame {
	p.t.Helper()
	for {
		f, ok := p.read()
		if !ok {
			p.t.Fatalf("the connection ended before %s: %v", op, p.ended)
		}
		if f.Op == op {
			return f
		}
	}
}

// send sends a frame as it is.
func (p *browser) send(frame string) {
	p.t.Helper()
	if err := p.ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a request with the members given and returns its result.
func (p *browser) ask(members string) frame {
	p.t.Helper()
	p.id++
	id, _ := json.Marshal(p.id)
	p.send(`{"id":` + string(id) + `,` + members + `}`)
	f := p.next("result")
	if f.ID != p.id {
		p.t.Fatalf("answer to %d, want %d", f.ID, p.id)
	}
	return f
}

// ok asks and fails the test on an error.
func (p *browser) ok(members string) frame {
	p.t.Helper()
	f := p.ask(members)
	if f.Error != nil {
		p.t.Fatalf("%s: %s", members, f.Error.Message)
	}
	return f
}

// until reads until the status is as wanted.
func (p *browser) until(what string, is func(status) bool) {
	p.t.Helper()
	for !is(p.status) {
		if _, ok := p.read(); !ok {
			p.t.Fatalf("the connection ended before it was %s: %v", what, p.ended)
		}
	}
}

// end reads to the end and returns the close code, or −1, and the reason of a closed frame.
func (p *browser) end() (code int, reason string) {
	p.t.Helper()
	for {
		f, ok := p.read()
		if !ok {
			break
		}
		if f.Op == "closed" {
			reason = f.Reason
		}
	}
	var c *websocket.CloseError
	if errors.As(p.ended, &c) {
		return c.Code, reason
	}
	return -1, reason
}
