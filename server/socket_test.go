package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

func TestAPageWatchesItsCluster(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p := w.dial(id, "")
		hello, _ := p.read()
		if hello.Op != "hello" || hello.Cluster != id || hello.Run != 1 || hello.Kafka != "0.10" || fmt.Sprint(hello.Kafkas) != "[0.10 2.4 0.8 0.9 0.11 2.0 2.1]" {
			t.Errorf("first came %+v", hello)
		}
		if l := hello.Limits; l.Statement != 1000 || l.Frame != 4096 || l.Events != 1_000_000 {
			t.Errorf("limits %+v", l)
		}
		snapshot, _ := p.read()
		if snapshot.Op != "snapshot" || snapshot.Reason != "" || !snapshot.Status.Playing || snapshot.Status.Speed != 1.0/12 {
			t.Errorf("then came %+v", snapshot)
		}
		begun, frames := time.Now(), 0
		for p.want <= 100 { // 1 s of virtual time, 12 s of wall time
			before := p.at
			p.next("events")
			frames++
			if gap := p.at.Sub(before); gap < 16*time.Millisecond && frames > 1 {
				t.Fatalf("two frames within %v", gap)
			}
		}
		if took := time.Since(begun); took < 11900*time.Millisecond || took > 12100*time.Millisecond {
			t.Errorf("100 steps of 10 ms took %v at 1/12", took)
		}
		if frames < 200 || frames > 400 {
			t.Errorf("%d frames in 12 s, want one each 50 ms or event", frames)
		}
	})
}

func TestTransport(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.open(w.cluster())
		p.ok(`"op":"pause"`)
		p.until("paused", func(s status) bool { return !s.Playing })
		at := p.status.Time
		time.Sleep(time.Hour)
		r := p.ok(`"op":"step"`)
		if r.Seq != 1 {
			t.Errorf("the first step is event %d", r.Seq)
		}
		p.until("a step on", func(s status) bool { return s.Time > at })
		if p.status.Time != 10_000 || p.status.Seq != 1 || p.status.Playing {
			t.Errorf("after a step: %+v", p.status)
		}
		if r := p.ok(`"op":"step","until":"story"`); r.Seq != 2 {
			t.Errorf("the second step is event %d", r.Seq)
		}
		p.ok(`"op":"speed","speed":0.5`)
		p.ok(`"op":"play"`)
		p.until("playing", func(s status) bool { return s.Playing && s.Speed == 0.5 })
		for range 3 {
			p.next("events")
		}
		r = p.ok(`"op":"do","statement":"stop broker 1"`)
		for p.want <= r.Seq {
			for _, e := range p.next("events").Events {
				if e.Seq == r.Seq && (e.Kind != "statement_executed" || e.Text != "stop broker 1") {
					t.Errorf("the statement's event is %+v", e)
				}
			}
		}
		if r := p.ok(`"op":"do","statement":"show brokers"`); r.Output != "broker 1 up\n" {
			t.Errorf("output %q", r.Output)
		}
		r = p.ask(`"op":"do","statement":"stpo broker 1"`)
		if r.Error == nil || r.Error.Message != "unknown statement" || r.Error.Column != 3 {
			t.Errorf("a bad statement: %+v", r.Error)
		}
	})
}

func TestRestart(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p, other := w.open(id), w.open(id)
		for range 20 {
			p.next("events")
		}
		p.ok(`"op":"restart","kafka":"2.4"`)
		for _, b := range []*browser{p, other} {
			for b.run == 1 {
				b.next("hello")
			}
			if f, _ := b.read(); f.Op != "snapshot" || f.Snapshot.Seq != 0 || !f.Status.Playing {
				t.Errorf("after hello came %+v", f)
			}
			b.next("events")
		}
		r := p.ask(`"op":"restart","kafka":"3.0"`)
		if r.Error == nil || r.Error.Message != "there is no line 3.0" {
			t.Errorf("a line that does not exist: %+v", r.Error)
		}
		p.next("events")
		if p.run != 2 {
			t.Errorf("run %d", p.run)
		}
	})
}

func TestResume(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p := w.open(id)
		p.ok(`"op":"speed","speed":1`)
		for p.want <= 50 {
			p.next("events")
		}
		p.ws.Close()
		time.Sleep(time.Second)
		again := w.dial(id, fmt.Sprintf("run=1&from=%d", p.want))
		again.want = p.want
		again.next("hello")
		if f, _ := again.read(); f.Op != "events" || f.From != p.want || len(f.Events) < 90 {
			t.Errorf("after hello came %s from %d with %d events", f.Op, f.From, len(f.Events))
		}
		again.next("status")
		for _, query := range []string{"run=2&from=5", "run=1&from=999999", "run=x&from=y", "run=-1&from=-5", "from=18446744073709551616"} {
			late := w.dial(id, query)
			late.next("hello")
			if f, _ := late.read(); f.Op != "snapshot" || f.Reason != "" {
				t.Errorf("%s: after hello came %s, reason %q", query, f.Op, f.Reason)
			}
		}
	})
}

func TestBadFrames(t *testing.T) {
	long := strings.Repeat("x", 1001)
	for _, c := range []struct {
		name, frame string
		id          int64
		message     string
	}{
		{"nothing", ``, 0, "the frame is not a JSON object"},
		{"no JSON", `stop broker 1`, 0, "the frame is not a JSON object"},
		{"a list", `[1]`, 0, `the frame has a array where "" should be a object`},
		{"two objects", `{"op":"play","id":1}{}`, 0, "the frame is not a JSON object"},
		{"cut off", `{"op":"play","id":1`, 0, "the frame is not a JSON object"},
		{"no UTF-8", "{\"op\":\"do\",\"id\":1,\"statement\":\"\xff\"}", 0, "the frame is not UTF-8"},
		{"no op", `{"id":5}`, 5, "the frame has no op"},
		{"unknown op", `{"op":"fly","id":5}`, 5, `unknown op "fly": do, play, pause, step, speed or restart`},
		{"op of another type", `{"op":1,"id":5}`, 5, `the frame has a number where "op" should be a string`},
		{"id is a text", `{"op":"play","id":"5"}`, 0, `the frame has a string where "id" should be a whole number`},
		{"id is negative", `{"op":"play","id":-5}`, 0, "id must be a whole number from 0 to 2^53-1"},
		{"id is absurd", `{"op":"play","id":1e300}`, 0, `the frame has a number 1e300 where "id" should be a whole number`},
		{"id is too large", `{"op":"play","id":9007199254740992}`, 0, "id must be a whole number from 0 to 2^53-1"},
		{"no statement", `{"op":"do","id":5}`, 5, "there is no statement"},
		{"blank statement", `{"op":"do","id":5,"statement":"  \t"}`, 5, "there is no statement"},
		{"long statement", `{"op":"do","id":5,"statement":"` + long + `"}`, 5, "a statement may have 1000 bytes, this one has 1001"},
		{"two statements", `{"op":"do","id":5,"statement":"stop broker 1\nstop broker 2"}`, 5, "one statement a request: a statement is one line"},
		{"speed 0", `{"op":"speed","id":5}`, 5, "speed must be from 0.001 to 20"},
		{"absurd speed", `{"op":"speed","id":5,"speed":1e308}`, 5, "speed must be from 0.001 to 20"},
		{"more absurd speed", `{"op":"speed","id":5,"speed":1e309}`, 5, `the frame has a number 1e309 where "speed" should be a number`},
		{"negative speed", `{"op":"speed","id":5,"speed":-1}`, 5, "speed must be from 0.001 to 20"},
		{"step until what", `{"op":"step","id":5,"until":"dawn"}`, 5, `until must be "story" or absent, not "dawn"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				p := w.open(w.cluster())
				p.send(c.frame)
				r := p.next("result")
				if r.Error == nil || r.Error.Message != c.message || r.ID != c.id {
					t.Errorf("answer to %d: %+v, want to %d: %q", r.ID, r.Error, c.id, c.message)
				}
				p.ok(`"op":"pause"`) // the connection goes on
			})
		})
	}
}

func TestBinaryFrame(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.open(w.cluster())
		p.ws.WriteMessage(websocket.BinaryMessage, []byte(`{"op":"play","id":1}`))
		if r := p.next("result"); r.Error == nil || r.Error.Message != "a frame must be text" {
			t.Errorf("%+v", r)
		}
		p.ok(`"op":"pause"`)
	})
}

func TestOversizedFrame(t *testing.T) {
	t.Run("a little", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			p := w.open(w.cluster())
			p.send(strings.Repeat("x", 4097))
			r := p.next("result")
			if r.ID != 0 || r.Error == nil || r.Error.Message != "a frame may have 4096 bytes" {
				t.Errorf("%+v", r)
			}
			if code, _ := p.end(); code != websocket.CloseMessageTooBig {
				t.Errorf("closed with %d", code)
			}
		})
	})
	t.Run("much", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			p := w.open(w.cluster())
			go p.ws.WriteMessage(websocket.TextMessage, make([]byte, 1<<20)) // fails in the middle
			if code, _ := p.end(); code != websocket.CloseMessageTooBig {
				t.Errorf("closed with %d: %v", code, p.ended)
			}
		})
	})
}

func TestRateLimit(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p, other := w.open(id), w.open(id)
		refused := 0
		for range 60 {
			if r := p.ask(`"op":"do","statement":"show brokers"`); r.Error != nil {
				if r.Error.Message != "too many requests: 20 a second" {
					t.Fatalf("%+v", r.Error)
				}
				refused++
			}
		}
		if refused == 0 || refused > 20 {
			t.Errorf("%d of 60 requests at once were refused, want up to 20", refused)
		}
		other.ok(`"op":"do","statement":"show brokers"`)
		time.Sleep(time.Second)
		for range 20 {
			p.ok(`"op":"do","statement":"show brokers"`)
		}
	})
}

func TestGone(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for _, id := range []string{"never-was", newID(), strings.Repeat("x", 3000)} {
			p := w.dial(id, "")
			if code, reason := p.end(); code != websocket.CloseGoingAway || reason != "expired" {
				t.Errorf("socket of %.20s: closed with %d, reason %q", id, code, reason)
			}
		}
	})
}

func TestStatementForAClusterThatIsGone(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p := w.open(id)
		h, _ := w.server.registry.find(id)
		h.runner.Close() // as when a statement comes between the end and the farewell
		r := p.ask(`"op":"do","statement":"stop broker 1"`)
		if r.Error == nil || r.Error.Message != "the cluster is closed" {
			t.Errorf("%+v", r.Error)
		}
	})
}

func TestCrowded(t *testing.T) {
	inWorld(t, func(c *Config) { c.Limits.Connections = 2 }, func(t *testing.T, w *world) {
		id := w.cluster()
		first := w.open(id)
		w.open(id)
		if code, reason := w.dial(id, "").end(); code != websocket.CloseGoingAway || reason != "crowded" {
			t.Errorf("closed with %d, reason %q", code, reason)
		}
		first.ws.Close()
		synctest.Wait()
		w.open(id)
	})
}

func TestFailedClusterAndItsRecording(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id, healthy := w.cluster(), w.open(w.cluster())
		p := w.open(id)
		p.ok(`"op":"pause"`)
		p.ok(`"op":"do","statement":"stop broker 1"`)
		if r := p.ask(`"op":"do","statement":"panic"`); r.Error == nil || !strings.Contains(r.Error.Message, "has failed") {
			t.Errorf("%+v", r)
		}
		p.until("failed", func(s status) bool { return s.Failed == "core: invariant broken" })
		late := w.dial(id, "")
		late.next("hello")
		if f := late.next("snapshot"); f.Status.Failed == "" {
			t.Errorf("%+v", f)
		}
		resp := w.get("/c/" + id + "/recording")
		if got := body(t, resp); resp.StatusCode != http.StatusOK || !strings.HasSuffix(got, "stop broker 1") {
			t.Errorf("recording: %s %q", resp.Status, got)
		}
		healthy.next("events")
		p.ok(`"op":"restart","kafka":"0.10"`)
		p.until("playable", func(s status) bool { return s.Failed == "" })
	})
}

// A page that never reads costs its own connection, and nobody else notices.
func TestSlowReader(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		near, err := w.pipes.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		fmt.Fprintf(near, "GET /c/%s/socket HTTP/1.1\r\nHost: tidemark.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", id)
		if resp, err := http.ReadResponse(bufio.NewReader(near), nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(resp, err)
		}
		p := w.open(id)
		if _, n := w.server.registry.count(); n != 2 {
			t.Fatalf("%d connections", n)
		}
		begun, frames := time.Now(), 0
		for time.Since(begun) < 9*time.Second {
			p.next("events")
			frames++
		}
		if frames < 150 {
			t.Errorf("%d frames in 9 s beside a page that does not read", frames)
		}
		for time.Since(begun) < 15*time.Second {
			p.next("events")
		}
		if _, n := w.server.registry.count(); n != 1 {
			t.Errorf("%d connections after the write deadline, want 1", n)
		}
	})
}

// A page whose machine vanished is found out by the ping it does not answer.
func TestSilentPage(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		id := w.cluster()
		p, silent := w.open(id), w.open(id)
		silent.ws.SetPingHandler(func(string) error { return nil })
		p.ok(`"op":"pause"`)
		time.Sleep(29 * time.Second)
		if _, n := w.server.registry.count(); n != 2 {
			t.Errorf("%d connections after 29 s, want 2", n)
		}
		time.Sleep(2 * time.Second)
		if _, n := w.server.registry.count(); n != 1 {
			t.Errorf("%d connections after 31 s, want 1", n)
		}
		time.Sleep(time.Hour) // the other one answers
		p.ok(`"op":"step"`)
	})
}

func TestShutdown(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p, q := w.open(w.cluster()), w.open(w.cluster())
		if err := w.server.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, b := range []*browser{p, q} {
			if code, reason := b.end(); code != websocket.CloseGoingAway || reason != "shutdown" {
				t.Errorf("closed with %d, reason %q", code, reason)
			}
		}
		if resp := w.get("/"); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a visitor after the end: %s", resp.Status)
		}
	})
}

// A paused cluster with a page wakes nobody but for the page's pings.
func TestPausedClusterCostsNothing(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		p := w.open(w.cluster())
		p.ok(`"op":"pause"`)
		p.until("paused", func(s status) bool { return !s.Playing })
		time.Sleep(24 * time.Hour)
		if n := len(p.frames); n != 0 {
			t.Errorf("%d frames in a paused day", n)
		}
		p.ok(`"op":"step"`)
	})
}

// TestOrigin is over real sockets, as browsers are.
func TestOrigin(t *testing.T) {
	s := New(Config{Make: makeFake})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Handler: s}
	go h.Serve(listener)
	t.Cleanup(func() { s.Close(t.Context()); h.Close() })
	host := listener.Addr().String()
	location := do(s, http.MethodGet, "/").Header.Get("Location")
	for _, c := range []struct {
		origin string
		ok     bool
	}{
		{"", true},
		{"http://" + host, true},
		{"https://" + host, true}, // behind something that ends TLS
		{"http://evil.example", false},
		{"http://" + host + ".evil.example", false},
		{"http://127.0.0.1:1", false},
		{"null", false},
		{"://", false},
	} {
		header := http.Header{}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		ws, resp, err := websocket.DefaultDialer.Dial("ws://"+host+location+"/socket", header)
		if (err == nil) != c.ok {
			t.Errorf("origin %q: %v", c.origin, err)
		}
		if err != nil {
			if resp == nil || resp.StatusCode != http.StatusForbidden {
				t.Errorf("origin %q: refused with %v, want 403", c.origin, resp)
			}
			continue
		}
		ws.SetReadDeadline(time.Now().Add(patience))
		if _, data, err := ws.ReadMessage(); err != nil || !strings.HasPrefix(string(data), `{"op":"hello"`) {
			t.Errorf("origin %q: %s %v", c.origin, data, err)
		}
		ws.Close()
	}
	if resp := do(s, http.MethodGet, location+"/socket"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a socket without an upgrade: %s", resp.Status)
	}
}
