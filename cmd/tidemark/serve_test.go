package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// patience bounds every wait on the wall clock.
const patience = 20 * time.Second

// served starts serve with a way to stop it, and returns the address it prints and
// what it returns in the end.
func served(t *testing.T, serve func(stdout io.Writer) int) (host string, status <-chan int) {
	t.Helper()
	r, w := io.Pipe()
	c := make(chan int, 1)
	go func() { c <- serve(w); w.Close() }()
	line, err := bufio.NewReader(r).ReadString('\n')
	m := regexp.MustCompile(`^Tidemark is at http://([^/]+)/\n$`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("it printed %q, %v", line, err)
	}
	go io.Copy(io.Discard, r)
	return m[1], c
}

func ended(t *testing.T, status <-chan int, within time.Duration) {
	t.Helper()
	select {
	case s := <-status:
		if s != 0 {
			t.Errorf("exit status %d", s)
		}
	case <-time.After(within):
		t.Fatal("it did not end")
	}
}

func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var stderr strings.Builder
	host, status := served(t, func(stdout io.Writer) int {
		return serveUntil(ctx, []string{"-addr", "127.0.0.1:0"}, stdout, &stderr)
	})
	client := &http.Client{Timeout: patience}
	resp, err := client.Get("http://" + host + "/") // follows to the page
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "data-socket=") {
		t.Fatalf("%s %v", resp.Status, err)
	}
	resp.Body.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+host+resp.Request.URL.Path+"/socket", http.Header{"Origin": {"http://" + host}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	ws.SetReadDeadline(time.Now().Add(patience))
	var ops []string
	for stopped := false; ; {
		_, data, err := ws.ReadMessage()
		if err != nil {
			if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
				t.Errorf("closed by %v", err)
			}
			break
		}
		var f struct{ Op, Reason string }
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		if f.Op == "closed" && f.Reason != "shutdown" {
			t.Errorf("closed because of %s", f.Reason)
		}
		ops = append(ops, f.Op)
		if f.Op == "events" && !stopped {
			stop()
			stopped = true
		}
	}
	if ops[0] != "hello" || ops[1] != "snapshot" || ops[len(ops)-1] != "closed" {
		t.Errorf("frames %v", ops)
	}
	ended(t, status, shutdownTime)
	if stderr.String() != "" {
		t.Errorf("standard error: %s", stderr.String())
	}
}

func TestServeEndsOnASignal(t *testing.T) {
	_, status := served(t, func(stdout io.Writer) int { return serve([]string{"-addr", "127.0.0.1:0"}, stdout, io.Discard) })
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, status, shutdownTime)
}

func TestServeCannot(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-addr", taken.Addr().String()}, 1, "address already in use\nAnother address can be chosen with -addr"},
		{[]string{"-addr", "nonsense"}, 1, "missing port"},
		{[]string{"-max-clusters", "0"}, 2, "-max-clusters is at least 1"},
		{[]string{"-idle", "-1s"}, 2, "-idle more than 0"},
		{[]string{"-idle", "soon"}, 2, `invalid value "soon"`},
		{[]string{"-log", "loud"}, 2, `invalid value "loud"`},
		{[]string{"-fly"}, 2, "-fly"},
		{[]string{"here"}, 2, `unexpected argument "here"`},
		{[]string{"-h"}, 0, "-addr"},
	} {
		var stdout, stderr strings.Builder
		if got := serveUntil(t.Context(), c.args, &stdout, &stderr); got != c.status || !strings.Contains(stderr.String(), c.says) || stdout.String() != "" {
			t.Errorf("%v: status %d, standard error %q", c.args, got, stderr.String())
		}
	}
}

func TestBrowsable(t *testing.T) {
	for addr, want := range map[string]string{"0.0.0.0:80": "localhost:80", "[::]:8080": "localhost:8080", "127.0.0.1:8080": "127.0.0.1:8080", "[::1]:1": "[::1]:1"} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := browsable(a); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}
