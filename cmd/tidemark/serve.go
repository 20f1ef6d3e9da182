package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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

// serve serves the page until it is interrupted. It returns the exit status.
func serve(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serveUntil(ctx, args, stdout, stderr)
}

func serveUntil(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	limits := server.DefaultLimits()
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8080", "address to listen on")
	flags.IntVar(&limits.Clusters, "max-clusters", limits.Clusters, "clusters in the process")
	flags.DurationVar(&limits.Idle, "idle", limits.Idle, "a cluster that nobody looks at is forgotten after this")
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
		fmt.Fprintf(stderr, "tidemark serve: cannot listen on %s: %v\nAnother address can be chosen with -addr HOST:PORT.\n", *addr, err)
		return 1
	}
	app := server.New(server.Config{Limits: limits, Version: version()})
	web := &http.Server{Handler: app, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: limits.HeaderBytes}
	fmt.Fprintf(stdout, "Tidemark is at http://%s/\n", listener.Addr())
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
	app.Close(end)
	web.Shutdown(end)
	return 0
}
