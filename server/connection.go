package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"tidemark/cluster/runner"
	"tidemark/cluster/sim"
)

// connection is one page at a cluster.
type connection struct {
	server *Server
	hosted *hosted
	ws     *websocket.Conn
	sub    *runner.Subscription
	rate   *rate.Limiter

	answers chan answer   // from the reader to the writer
	written chan struct{} // closed when the writer has ended
	run     int           // that the page has been told; the writer's
	buf     []byte        // where the writer puts frames together
}

// answer is a frame for the page; with a code, the connection is closed after it.
type answer struct {
	frame []byte
	code  int
}

// serve carries a connection until it ends. The caller's goroutine is the reader.
func (s *Server) serve(ws *websocket.Conn, h *hosted, run int, from sim.Seq) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer ws.Close()
	limits := &s.cfg.Limits
	sub, err := h.runner.Subscribe(ctx, run, from)
	if err != nil { // closed in this moment
		refuse(ws, reasonExpired, limits)
		return
	}
	defer sub.Close()
	c := &connection{
		server: s, hosted: h, ws: ws, sub: sub,
		rate:    rate.NewLimiter(rate.Limit(limits.Requests), limits.Burst),
		answers: make(chan answer), written: make(chan struct{}),
	}
	// A frame that is only a little too long is answered; one that is much too long is
	// not even looked at.
	ws.SetReadLimit(16 * int64(limits.FrameBytes))
	alive := func(string) error { return ws.SetReadDeadline(time.Now().Add(limits.Ping + limits.Pong)) }
	ws.SetPongHandler(alive)
	alive("")
	go c.write(ctx)
	c.read(ctx)
	ws.Close() // so that the writer is not stuck in a write
	cancel()
	<-c.written
}

// read takes requests until the connection ends.
func (c *connection) read(ctx context.Context) {
	limits := &c.server.cfg.Limits
	for {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return
		}
		frame, err := io.ReadAll(io.LimitReader(r, int64(limits.FrameBytes)+1))
		if err != nil {
			return
		}
		var a answer
		switch {
		case len(frame) > limits.FrameBytes:
			a = answer{appendError(nil, 0, fmt.Sprintf("a frame may have %d bytes", limits.FrameBytes), 0), websocket.CloseMessageTooBig}
		case kind != websocket.TextMessage:
			a.frame = appendError(nil, 0, "a frame must be text", 0)
		default:
			a.frame = c.carryOut(ctx, frame)
		}
		select {
		case c.answers <- a:
		case <-c.written:
		}
		if a.code != 0 {
			c.drain()
			return
		}
	}
}

// drain reads until the page has closed its side: closing with unread input makes
// the machine reset the connection, and the page would not see why. The writer ends
// it if that takes too long.
func (c *connection) drain() {
	for {
		if _, _, err := c.ws.NextReader(); err != nil {
			return
		}
	}
}

// carryOut does what a frame asks for and returns the answer.
func (c *connection) carryOut(ctx context.Context, frame []byte) []byte {
	r, err := decodeRequest(frame, &c.server.cfg.Limits)
	if err != nil {
		return appendError(nil, r.ID, err.Error(), 0)
	}
	if !c.rate.Allow() {
		return appendError(nil, r.ID, fmt.Sprintf("too many requests: %v a second", c.server.cfg.Limits.Requests), 0)
	}
	ctx, cancel := context.WithTimeout(ctx, c.server.cfg.Limits.Answer)
	defer cancel()
	result, err := c.dispatch(ctx, &r)
	if err != nil {
		message, column := explain(err)
		return appendError(nil, r.ID, message, column)
	}
	return appendResult(nil, r.ID, result.Seq, result.Output)
}

func (c *connection) dispatch(ctx context.Context, r *request) (runner.Result, error) {
	cluster := c.hosted.runner
	switch r.Op {
	case "do":
		return cluster.Execute(ctx, r.Statement)
	case "play":
		return cluster.Play(ctx)
	case "pause":
		return cluster.Pause(ctx)
	case "step":
		return cluster.Step(ctx, r.Until == "story")
	case "speed":
		return cluster.SetSpeed(ctx, r.Speed)
	case "restart":
		return cluster.Restart(ctx, r.Kafka)
	}
	panic("server: op " + r.Op + " was decoded but is not carried out")
}

// explain is an error in words for a page, and the column it is at, or 0.
func explain(err error) (message string, column int) {
	if message, column, ok := located(err); ok {
		return message, column
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "the cluster is too busy", 0
	}
	message = err.Error()
	for _, prefix := range []string{"runner: ", "server: ", "script: ", "cluster: ", "protocol: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return message, 0
}

// write writes everything that the page gets, until the connection or the cluster ends.
func (c *connection) write(ctx context.Context) {
	defer close(c.written)
	limits := &c.server.cfg.Limits
	ping := time.NewTicker(limits.Ping)
	defer ping.Stop()
	_ = c.sub.Ask(ctx) // fails only when one of the cases below is due
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case u := <-c.sub.Updates():
			if err = c.update(&u); err == nil {
				_ = c.sub.Ask(ctx)
			}
		case a := <-c.answers:
			err = c.frame(a.frame)
			if err == nil && a.code != 0 {
				c.goodbye(a.code)
				return
			}
		case <-ping.C:
			err = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(limits.Write))
		case <-c.hosted.gone:
			if c.frame(appendClosed(nil, c.hosted.reason)) == nil {
				c.goodbye(websocket.CloseGoingAway)
				return
			}
			err = errGone
		}
		if err != nil {
			c.ws.Close() // the reader notices
			return
		}
	}
}

// update writes the frames of an update.
func (c *connection) update(u *runner.Update) error {
	if u.Run != c.run {
		c.buf = appendHello(c.buf[:0], c.hosted.id, u, c.server.cfg.Kafkas, &c.server.cfg.Limits)
		if err := c.frame(c.buf); err != nil {
			return err
		}
		c.run = u.Run
	}
	if u.Snapshot != nil {
		c.buf = appendSnapshot(c.buf[:0], u)
		if err := c.frame(c.buf); err != nil {
			return err
		}
	}
	if len(u.Events) > 0 || !u.Changed {
		c.buf = appendEvents(c.buf[:0], u)
		if err := c.frame(c.buf); err != nil {
			return err
		}
	}
	if u.Changed && u.Snapshot == nil {
		c.buf = appendStatusFrame(c.buf[:0], u)
		if err := c.frame(c.buf); err != nil {
			return err
		}
	}
	if cap(c.buf) > keptBuffer {
		c.buf = nil
	}
	return nil
}

// keptBuffer is the size up to which a connection keeps its buffer for the next frame.
const keptBuffer = 64 << 10

func (c *connection) frame(frame []byte) error {
	c.ws.SetWriteDeadline(time.Now().Add(c.server.cfg.Limits.Write))
	return c.ws.WriteMessage(websocket.TextMessage, frame)
}

// goodbye says that the connection is closed, and closes it when the page has not
// done so itself after a while.
func (c *connection) goodbye(code int) {
	limits := &c.server.cfg.Limits
	c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(limits.Close))
	time.AfterFunc(limits.Close, func() { c.ws.Close() })
}

// refuse tells a page that it cannot be served, and closes its connection.
func refuse(ws *websocket.Conn, reason string, limits *Limits) {
	ws.SetWriteDeadline(time.Now().Add(limits.Write))
	if ws.WriteMessage(websocket.TextMessage, appendClosed(nil, reason)) == nil {
		ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Now().Add(limits.Close))
		ws.SetReadDeadline(time.Now().Add(limits.Close))
		ws.NextReader() // until its close frame
	}
	ws.Close()
}
