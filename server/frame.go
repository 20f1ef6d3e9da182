package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tidemark/cluster/runner"
	"tidemark/cluster/sim"
)

// request is a frame from a page.
type request struct {
	Op        string  `json:"op"`
	ID        int64   `json:"id"` // chosen by the page; comes back with the answer
	Statement string  `json:"statement"`
	Until     string  `json:"until"`
	Speed     float64 `json:"speed"`
	Kafka     string  `json:"kafka"`
}

// maxID is the largest whole number that a page can tell from its neighbours.
const maxID = 1<<53 - 1

// decodeRequest reads a frame. With an error, the request has the id if one could be read.
func decodeRequest(frame []byte, limits *Limits) (request, error) {
	var r request
	if !utf8.Valid(frame) {
		return r, errors.New("the frame is not UTF-8")
	}
	if err := json.Unmarshal(frame, &r); err != nil {
		if r.ID < 0 || r.ID > maxID {
			r.ID = 0
		}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return r, fmt.Errorf("the frame has a %s where %q should be a %s", wrong.Value, wrong.Field, kindName(wrong.Type.Kind().String()))
		}
		return request{}, errors.New("the frame is not a JSON object")
	}
	if r.ID < 0 || r.ID > maxID {
		r.ID = 0
		return r, errors.New("id must be a whole number from 0 to 2^53-1")
	}
	switch r.Op {
	case "do":
		if len(r.Statement) > limits.StatementBytes {
			return r, fmt.Errorf("a statement may have %d bytes, this one has %d", limits.StatementBytes, len(r.Statement))
		}
		if strings.TrimSpace(r.Statement) == "" {
			return r, errors.New("there is no statement")
		}
		if strings.ContainsAny(r.Statement, "\n\r") {
			return r, errors.New("one statement a request: a statement is one line")
		}
	case "step":
		if r.Until != "" && r.Until != "story" {
			return r, fmt.Errorf("until must be \"story\" or absent, not %q", r.Until)
		}
	case "play", "pause", "speed", "restart":
	case "":
		return r, errors.New("the frame has no op")
	default:
		return r, fmt.Errorf("unknown op %q: do, play, pause, step, speed or restart", r.Op)
	}
	return r, nil
}

// kindName names a JSON type for a kind of Go.
func kindName(kind string) string {
	switch kind {
	case "int64":
		return "whole number"
	case "float64":
		return "number"
	case "struct":
		return "object"
	}
	return kind
}

// The frames to a page are appended by hand: the stream is hot, and what is in it is
// encoded already.

func appendHello(b []byte, cluster string, u *runner.Update, kafkas []string, limits *Limits) []byte {
	b = append(b, `{"op":"hello","cluster":`...)
	b = appendText(b, cluster)
	b = appendRun(b, u.Run)
	b = append(b, `,"kafka":`...)
	b = appendText(b, u.Kafka)
	b = append(b, `,"kafkas":[`...)
	for i, k := range kafkas {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, k)
	}
	b = append(b, `],"limits":{"statement":`...)
	b = strconv.AppendInt(b, int64(limits.StatementBytes), 10)
	b = append(b, `,"frame":`...)
	b = strconv.AppendInt(b, int64(limits.FrameBytes), 10)
	b = append(b, `,"events":`...)
	b = strconv.AppendInt(b, int64(limits.Cluster.RunEvents), 10)
	return append(b, "}}"...)
}

func appendSnapshot(b []byte, u *runner.Update) []byte {
	b = append(b, `{"op":"snapshot"`...)
	b = appendRun(b, u.Run)
	b = append(b, `,"snapshot":`...)
	b = append(b, u.Snapshot...)
	b = append(b, `,"status":`...)
	b = appendStatus(b, &u.Status)
	if u.Behind {
		return append(b, `,"reason":"behind"}`...)
	}
	return append(b, `,"reason":""}`...)
}

func appendEvents(b []byte, u *runner.Update) []byte {
	b = append(b, `{"op":"events"`...)
	b = appendRun(b, u.Run)
	b = append(b, `,"from":`...)
	b = strconv.AppendUint(b, uint64(u.From), 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, int64(u.Time), 10)
	b = append(b, `,"events":[`...)
	for i, e := range u.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, "]}"...)
}

func appendStatusFrame(b []byte, u *runner.Update) []byte {
	b = append(b, `{"op":"status"`...)
	b = appendRun(b, u.Run)
	b = append(b, `,"status":`...)
	b = appendStatus(b, &u.Status)
	return append(b, '}')
}

func appendStatus(b []byte, s *runner.Status) []byte {
	b = append(b, `{"playing":`...)
	b = strconv.AppendBool(b, s.Playing)
	b = append(b, `,"speed":`...)
	b = strconv.AppendFloat(b, s.Speed, 'f', -1, 64)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, int64(s.Time), 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, uint64(s.Seq), 10)
	b = append(b, `,"failed":`...)
	b = appendText(b, s.Failed)
	b = append(b, `,"full":`...)
	b = strconv.AppendBool(b, s.Full)
	return append(b, '}')
}

func appendResult(b []byte, id int64, seq sim.Seq, output string) []byte {
	b = append(b, `{"op":"result","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, uint64(seq), 10)
	b = append(b, `,"output":`...)
	b = appendText(b, output)
	return append(b, '}')
}

// appendError appends a result that is an error; column is where in the statement,
// from 1, or 0 when it is nowhere in it.
func appendError(b []byte, id int64, message string, column int) []byte {
	b = append(b, `{"op":"result","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"error":{"message":`...)
	b = appendText(b, message)
	if column > 0 {
		b = append(b, `,"column":`...)
		b = strconv.AppendInt(b, int64(column), 10)
	}
	return append(b, "}}"...)
}

func appendClosed(b []byte, reason string) []byte {
	b = append(b, `{"op":"closed","reason":`...)
	b = appendText(b, reason)
	return append(b, '}')
}

func appendRun(b []byte, run int) []byte {
	b = append(b, `,"run":`...)
	return strconv.AppendInt(b, int64(run), 10)
}

// appendText appends any string as JSON.
func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return append(b, text...)
}
