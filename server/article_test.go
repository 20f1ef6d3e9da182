package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// withCore configures a server with the real core.
func withCore(c *Config) { c.Make = MakeRun }

// What a newcomer does: watches, pauses, steps, breaks a broker, and looks at another
// release line.
func TestTheArticlesCluster(t *testing.T) {
	inWorld(t, withCore, func(t *testing.T, w *world) {
		id := w.cluster()
		p := w.open(id)
		seen := map[string]int{}
		collect := func(until func() bool) {
			t.Helper()
			for !until() {
				for _, e := range p.next("events").Events {
					seen[e.Kind]++
				}
			}
		}
		begun := time.Now()
		collect(func() bool { return seen["record_acked"] > 0 })
		if took := time.Since(begun); took < 6*time.Second || took > 15*time.Second {
			t.Errorf("the first ack came after %v at 1/12", took)
		}
		for _, kind := range []string{"record_sent", "log_appended", "produce_parked", "message_sent", "message_delivered", "follower_progressed", "high_watermark_advanced"} {
			if seen[kind] == 0 {
				t.Errorf("no %s before the first ack: %v", kind, seen)
			}
		}

		p.ok(`"op":"pause"`)
		p.until("paused", func(s status) bool { return !s.Playing })
		for range 20 {
			before := p.want
			r := p.ok(`"op":"step","until":"story"`)
			if r.Seq < before {
				t.Fatalf("a step led from event %d to %d", before-1, r.Seq)
			}
		}
		r := p.ok(`"op":"do","statement":"stop broker 1"`)
		out := p.ok(`"op":"do","statement":"show brokers"`).Output
		if !strings.HasPrefix(out, "1 down\n2 up") {
			t.Errorf("show brokers: %q", out)
		}
		if r.Seq < p.want-1 {
			t.Errorf("the statement is event %d", r.Seq)
		}
		clear(seen)
		p.ok(`"op":"speed","speed":20`)
		p.ok(`"op":"play"`)
		collect(func() bool { return seen["leader_elected"] > 0 && seen["became_leader"] > 0 })
		if seen["broker_stopped"] != 1 || seen["session_expired"] != 1 {
			t.Errorf("on the way to another leader: %v", seen)
		}
		p.ok(`"op":"do","statement":"expect topic1-0 leader is 2"`)

		for statement, want := range map[string]string{
			"expect topic1-0 leader is 1": "expect topic1-0 leader is 1: ",
			"run 5s":                      "time is driven by the transport bar",
			"stop broker 1":               "broker 1 is",
			"stop broker 9":               "there is no broker 9",
			"send P 1000000000":           "expected a whole number from 1 to",
			"stream P every 1us":          "a stream sends at most every 1ms",
			"brokers 1 2":                 "makes a new cluster",
			"stpo broker 2":               `the nearest valid word is "stop"`,
		} {
			r := p.ask(fmt.Sprintf(`"op":"do","statement":%q`, statement))
			if r.Error == nil || !strings.Contains(r.Error.Message, want) {
				t.Errorf("%s: %+v, want %q", statement, r.Error, want)
			}
		}

		p.ok(`"op":"restart","kafka":"2.4"`)
		if f := p.next("hello"); f.Run != 2 || f.Kafka != "2.4" {
			t.Errorf("%+v", f)
		}
		p.next("snapshot")
		clear(seen)
		collect(func() bool { return seen["record_acked"] > 50 })
		resp := w.get("/c/" + id + "/recording")
		if text := body(t, resp); resp.StatusCode != http.StatusOK || !strings.HasPrefix(text, "kafka 2.4\n") {
			t.Errorf("recording: %s %q", resp.Status, text)
		}
	})
}

// The bound is on what a run may cost, and the page is told.
func TestARunGetsFull(t *testing.T) {
	inWorld(t, func(c *Config) {
		c.Make = MakeRun
		c.Limits.Cluster.RunEvents = 3000
	}, func(t *testing.T, w *world) {
		p := w.open(w.cluster())
		p.ok(`"op":"speed","speed":20`)
		p.until("full", func(s status) bool { return s.Full })
		if p.status.Playing || p.status.Seq < 3000 || p.status.Seq > 3100 {
			t.Errorf("%+v", p.status)
		}
		if r := p.ask(`"op":"play"`); r.Error == nil || !strings.Contains(r.Error.Message, "restart") {
			t.Errorf("play on a full run: %+v", r)
		}
		p.ok(`"op":"restart"`)
		p.until("going on", func(s status) bool { return !s.Full && s.Playing })
	})
}

// Two pages at one cluster see the same run, whenever they came.
func TestASharedCluster(t *testing.T) {
	inWorld(t, withCore, func(t *testing.T, w *world) {
		id := w.cluster()
		first := w.open(id)
		first.ok(`"op":"speed","speed":1`)
		for first.want < 700 {
			first.next("events")
		}
		second := w.open(id)
		second.ok(`"op":"do","statement":"stop broker 4"`)
		second.ok(`"op":"pause"`)
		for _, p := range []*browser{first, second} {
			p.until("paused", func(s status) bool { return !s.Playing })
		}
		if first.want != second.want || first.status != second.status {
			t.Errorf("one is at %d %+v, the other at %d %+v", first.want, first.status, second.want, second.status)
		}
		second.ws.WriteMessage(websocket.CloseMessage, nil)
		first.ok(`"op":"step"`)
	})
}
