package server

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"tidemark/cluster/runner"
)

func FuzzDecodeRequest(f *testing.F) {
	for _, s := range []string{
		`{"op":"do","id":7,"statement":"stop broker 1"}`, `{"op":"play","id":8}`, `{"op":"step","id":10,"until":"story"}`,
		`{"op":"speed","id":11,"speed":0.5}`, `{"op":"restart","id":12,"kafka":"2.4"}`, `{"OP":"play"}`, `{"id":-1}`, `{"id":1e99}`,
		`[]`, `null`, `"`, "\xff", `{"op":"do","statement":"\ud800"}`, `{"op":{}}`,
	} {
		f.Add([]byte(s))
	}
	limits := DefaultLimits()
	f.Fuzz(func(t *testing.T, frame []byte) {
		r, err := decodeRequest(frame, &limits)
		if r.ID < 0 || r.ID > maxID {
			t.Fatalf("id %d", r.ID)
		}
		if err != nil {
			if out := appendError(nil, r.ID, err.Error(), 0); !json.Valid(out) {
				t.Fatalf("the answer is no JSON: %s", out)
			}
			return
		}
		switch r.Op {
		case "do", "play", "pause", "step", "speed", "restart":
		default:
			t.Fatalf("op %q", r.Op)
		}
		if len(r.Statement) > limits.StatementBytes && r.Op == "do" || !utf8.ValidString(r.Statement) || r.Op == "do" && strings.ContainsAny(r.Statement, "\r\n") {
			t.Fatalf("statement %q", r.Statement)
		}
	})
}

func TestFramesAreJSON(t *testing.T) {
	limits := DefaultLimits()
	nasty := "a\"b\\c\n<script>\u2028\x00\xff中文"
	u := runner.Update{
		Run: 3, Kafka: nasty, Snapshot: []byte(`{"seq":4}`), Behind: true, From: 5,
		Events: [][]byte{[]byte(`{"seq":5}`), []byte(`{"seq":6}`)}, Time: 77,
		Status: runner.Status{Playing: true, Speed: 0.001, Time: 77, Seq: 6, Failed: nasty, Full: true},
	}
	for _, b := range [][]byte{
		appendHello(nil, nasty, &u, []string{nasty, "2.4"}, &limits), appendSnapshot(nil, &u), appendEvents(nil, &u), appendEvents(nil, &runner.Update{}),
		appendStatusFrame(nil, &u), appendResult(nil, 7, 9, nasty), appendError(nil, 7, nasty, 3), appendClosed(nil, nasty),
	} {
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Errorf("%s", b)
		}
	}
	for got, want := range map[string]string{
		string(appendEvents(nil, &u)):               `{"op":"events","run":3,"from":5,"time":77,"events":[{"seq":5},{"seq":6}]}`,
		string(appendError(nil, 7, "wrong", 3)):     `{"op":"result","id":7,"error":{"message":"wrong","column":3}}`,
		string(appendError(nil, 7, "wrong", 0)):     `{"op":"result","id":7,"error":{"message":"wrong"}}`,
		string(appendResult(nil, 7, 123, "x")):      `{"op":"result","id":7,"seq":123,"output":"x"}`,
		string(appendClosed(nil, "expired")):        `{"op":"closed","reason":"expired"}`,
		string(appendStatus(nil, &runner.Status{})): `{"playing":false,"speed":0,"time":0,"seq":0,"failed":"","full":false}`,
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
