package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tidemark/server"
)

// shutdownTime is how long open connections have when the process is told to end.
const shutdownTime = 5 * time.Second

// serve serves the page until it is interrupted, and returns the exit status: 0 after
// an interrupt, 1 when it cannot serve, 2 for a wrong command line.
func serve(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
	return serveUntil(ctx, args, stdout, stderr)
}

func serveUntil(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	limits := server.DefaultLimits()
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8080", "`address` to listen on")
	flags.IntVar(&limits.Clusters, "max-clusters", limits.Clusters, "clusters in the process")
	flags.DurationVar(&limits.Idle, "idle", limits.Idle, "a cluster that nobody looks at is forgotten after this")
	level := slog.LevelWarn
	flags.TextVar(&level, "log", level, "`level` from which on to log to standard error: debug, info, warn or error")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "tidemark serve: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if limits.Clusters < 1 || limits.Idle <= 0 {
		fmt.Fprintln(stderr, "tidemark serve: -max-clusters is at least 1 and -idle more than 0")
		return 2
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintf(stderr, "tidemark serve: cannot listen on %s: %v\nAnother address can be chosen with -addr HOST:PORT.\n", *addr, reason(err))
		return 1
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	app := server.New(server.Config{Limits: limits, Version: version(), Log: log})
	web := &http.Server{
		Handler: app, MaxHeaderBytes: limits.HeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo),
		// Sockets have deadlines of their own.
		ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	fmt.Fprintf(stdout, "Tidemark is at http://%s/\n", browsable(listener.Addr()))
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		fmt.Fprintf(stderr, "tidemark serve: %v\n", err)
		return 1
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := errors.Join(app.Close(end), web.Shutdown(end)); err != nil {
		log.Warn("connections were cut off", "error", err)
	}
	return 0
}

// reason is what is wrong with an address, without saying again which it is.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// browsable is an address that a browser on this machine can open.
func browsable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return a.String()
}
