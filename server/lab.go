package server

import (
	"errors"
	"fmt"
	"strings"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/runner"
	"tidemark/cluster/script"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// MakeRun makes the article's cluster in a release line of Kafka.
func MakeRun(kafka string, sink func(*trace.Event)) (runner.Run, error) {
	line := protocol.Line(kafka)
	if _, err := protocol.RulesOf(line); err != nil {
		return nil, err
	}
	s, err := script.ArticleConfig(line).Start(sink)
	if err != nil {
		return nil, err
	}
	return labRun{s.Cluster(), s}, nil
}

// labRun is a session of the lab language as the runner plays it.
type labRun struct {
	*cluster.Cluster
	session *script.Session
}

// Execute executes a statement that takes no time.
func (r labRun) Execute(statement string) (string, error) {
	st, err := script.ParseLine(statement, r.session.Context())
	if err != nil {
		return "", err
	}
	if st.DrivesTime() {
		return "", errors.New("time is driven by the transport bar here: play, pause and step")
	}
	result, err := r.session.Execute(st)
	return result.Output, err
}

// Recording is the run as a file of the lab language.
func (r labRun) Recording() string {
	rec := r.Cluster.Recording()
	var b strings.Builder
	fmt.Fprintf(&b, "kafka %s\nseed %d\n", rec.Config.Line, rec.Config.Seed)
	for _, s := range rec.Config.Settings {
		fmt.Fprintln(&b, s)
	}
	for _, p := range rec.Config.Partitions {
		fmt.Fprintln(&b, p)
	}
	at := sim.Time(0)
	for _, c := range rec.Commands {
		if c.At > at {
			fmt.Fprintf(&b, "run %s\n", protocol.FormatDuration(int64(c.At-at)))
			at = c.At
		}
		fmt.Fprintln(&b, c.Command)
	}
	return b.String()
}

// located takes an error of the lab language apart: what is wrong and in which
// column of the statement.
func located(err error) (message string, column int, ok bool) {
	var e *script.Error
	if errors.As(err, &e) {
		return e.Message, e.Column, true
	}
	return "", 0, false
}
