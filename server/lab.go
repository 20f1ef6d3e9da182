package server

import (
	"errors"
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
	setup := script.ArticleConfig(line)
	s, err := setup.Start(sink)
	if err != nil {
		return nil, err
	}
	r := &labRun{Cluster: s.Cluster(), session: s}
	for _, st := range setup.Statements {
		r.note(st.String())
	}
	return r, nil
}

// labRun is a session of the lab language as the runner plays it. Since nobody can
// rewind it, its cluster stays the same.
type labRun struct {
	*cluster.Cluster
	session *script.Session

	// The run so far as a file of the lab language: its text, how many lines, and the
	// time and number of steps that it leads to.
	text  strings.Builder
	lines int
	at    sim.Time
	steps uint64
}

var (
	errTime = errors.New("time is driven by the transport bar here: play, pause and step")
	errLong = errors.New("this run has as many statements as its recording can hold: restart to begin another")
)

// Execute executes a statement that takes no time.
func (r *labRun) Execute(statement string) (string, error) {
	// Whether it drives time can be said of a mark that does not exist, too.
	if st, err := script.ParseLine(statement, nil); err == nil && (st.DrivesTime() || strings.HasPrefix(st.String(), "mark ")) {
		return "", errTime
	}
	st, err := script.ParseLine(statement, r.session.Context())
	if err != nil {
		return "", err
	}
	_, recorded := st.Command()
	passage := ""
	if recorded {
		passage = r.passage()
		// What could not be read back is no recording.
		if r.lines+2 > script.MaxStatements || r.text.Len()+2*script.MaxLineBytes > script.MaxFileBytes {
			return "", errLong
		}
	}
	result, err := r.session.Execute(st)
	if err != nil {
		return "", err
	}
	if recorded {
		if passage != "" {
			r.note(passage)
		}
		r.note(st.String())
	}
	return result.Output, nil
}

// note appends a line to the recording; it leads to the present.
func (r *labRun) note(line string) {
	r.text.WriteString(line)
	r.text.WriteByte('\n')
	r.lines++
	r.at, r.steps = r.Now(), r.Steps()
}

// passage is the statement that leads from where the recording is to the present;
// empty when it is there. Within an instant it has to count steps.
func (r *labRun) passage() string {
	next, ok := r.Next()
	return cluster.Passage(r.Now()-r.at, r.Steps()-r.steps, ok && next <= r.Now())
}

// Recording is the run up to the present as a file of the lab language.
func (r *labRun) Recording() string {
	text := r.text.String()
	if passage := r.passage(); passage != "" {
		text += passage + "\n"
	}
	return text
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
