package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
	"github.com/gorilla/websocket"

	"tidemark/cluster/protocol"
	"tidemark/cluster/runner"
	"tidemark/cluster/sim"
	"tidemark/static"
)

// Config is what a server is made from.
type Config struct {
	Make    runner.Make  // how a cluster's run is made; nil: [MakeRun]
	Kafkas  []string     // the release lines that a page offers, the first for a new cluster; nil: [Kafkas]
	Limits  Limits       // all zero: [DefaultLimits]
	Log     *slog.Logger // nil: no log
	Version string       // of the program, for /healthz
}

// Kafkas are the release lines that a page offers: first the two that it shows as
// buttons, before and after leader epochs decide what a follower truncates, then all others.
func Kafkas() []string {
	kafkas := []string{"0.10", "2.4"}
	for _, l := range protocol.Lines() {
		if !slices.Contains(kafkas, string(l)) {
			kafkas = append(kafkas, string(l))
		}
	}
	return kafkas
}

// Server serves pages and their clusters. It is an [http.Handler].
type Server struct {
	cfg      Config
	registry *registry
	engine   *gin.Engine
	upgrader websocket.Upgrader
	sockets  sync.WaitGroup
}

// New makes a server without clusters. The caller must Close it.
func New(cfg Config) *Server {
	if cfg.Make == nil {
		cfg.Make = MakeRun
	}
	if cfg.Kafkas == nil {
		cfg.Kafkas = Kafkas()
	}
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg}
	s.registry = newRegistry(&s.cfg)
	// The upgrader itself refuses a page of another origin: the host of Origin must be
	// that of the request. A client that is no browser sends no Origin, and may come.
	s.upgrader = websocket.Upgrader{
		HandshakeTimeout: cfg.Limits.Write,
		ReadBufferSize:   1024,
		WriteBufferSize:  4096,
		WriteBufferPool:  new(sync.Pool),
		Error:            func(w http.ResponseWriter, _ *http.Request, code int, err error) { plain(w, code, err.Error()) },
	}
	s.engine = s.routes()
	return s
}

func (s *Server) routes() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.SetTrustedProxies(nil) // cannot fail without proxies
	e.HandleMethodNotAllowed = true
	e.Use(s.recover, headers)
	e.NoRoute(func(c *gin.Context) { plain(c.Writer, http.StatusNotFound, "there is no such page") })
	e.NoMethod(func(c *gin.Context) { plain(c.Writer, http.StatusMethodNotAllowed, "this page can only be read") })

	files := static.Handler()
	zipped := e.Group("", gzip.Gzip(gzip.DefaultCompression, gzip.WithExcludedExtensions([]string{".woff2"})))
	zipped.GET("/c/:id", s.clusterPage)
	zipped.GET(static.Prefix+"*path", func(c *gin.Context) { files.ServeHTTP(c.Writer, c.Request) })
	zipped.HEAD(static.Prefix+"*path", func(c *gin.Context) { files.ServeHTTP(c.Writer, c.Request) })
	zipped.GET("/c/:id/recording", s.recording)
	e.GET("/", s.home)
	e.GET("/c/:id/socket", s.socket)
	e.GET("/healthz", s.health)
	return e
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.engine.ServeHTTP(w, r) }

// Close ends every cluster, tells the pages, and waits until they are gone or the
// context ends.
func (s *Server) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.registry.close()
		s.sockets.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// recover answers 500 when a handler panics.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.cfg.Log.Error("a handler panicked", "path", c.FullPath(), "panic", v, "stack", stack())
			if !c.Writer.Written() {
				plain(c.Writer, http.StatusInternalServerError, "something went wrong here")
			}
			c.Abort()
		}
	}()
	c.Next()
}

// socket upgrades to a WebSocket and carries the connection.
func (s *Server) socket(c *gin.Context) {
	ws, err := s.upgrader.Upgrade(c.Writer, c.Request, nil)
	if err != nil {
		s.cfg.Log.Info("a socket was refused", "error", err, "origin", c.GetHeader("Origin"), "host", c.Request.Host)
		return
	}
	// A browser does not show a page why a socket was refused, so it is told over the socket.
	h, err := s.registry.enter(c.Param("id"))
	if err != nil {
		refuse(ws, refusal(err), &s.cfg.Limits)
		return
	}
	s.sockets.Add(1)
	defer s.sockets.Done()
	defer s.registry.leave(h)
	run, _ := strconv.Atoi(c.Query("run")) // what is no number is nothing to resume from
	from, _ := strconv.ParseUint(c.Query("from"), 10, 63)
	s.serve(ws, h, run, sim.Seq(from))
}

func refusal(err error) string {
	switch {
	case errors.Is(err, errShutdown):
		return reasonShutdown
	case errors.Is(err, errCrowded):
		return reasonCrowded
	}
	return reasonExpired
}

// health is for whoever watches the process.
func (s *Server) health(c *gin.Context) {
	clusters, connections := s.registry.count()
	c.Header("Cache-Control", "no-store")
	c.Header("Content-Type", "application/json")
	json.NewEncoder(c.Writer).Encode(struct {
		Status      string `json:"status"`
		Version     string `json:"version"`
		Clusters    int    `json:"clusters"`
		Connections int    `json:"connections"`
	}{"ok", s.cfg.Version, clusters, connections})
}

// plain answers with a line of text.
func plain(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	io.WriteString(w, text+"\n")
}
