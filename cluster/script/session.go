package script

import (
	"fmt"
	"slices"

	"tidemark/cluster"
	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Session is a cluster on which statements are executed. It is owned by the
// cluster's goroutine, as the cluster is. Whoever has it may step the cluster too:
// the session sees what happens by its events.
type Session struct {
	cluster  *cluster.Cluster
	state    *trace.Snapshot
	facts    *facts
	history  history
	marks    map[string]*markedPoint
	sinks    []func(*trace.Event)
	watching *matcher // of a run until seen or next, fed as events come
	began    sim.Seq  // number of the last event before time 0
	trace    *traceFile
}

// markedPoint is what a rewind goes back to.
type markedPoint struct {
	cluster   *cluster.Cluster // a copy that is never stepped itself
	state     *trace.Snapshot
	facts     *facts
	notes     []note
	forgotten sim.Seq
}

// Result is what a statement came to.
type Result struct {
	Seq    sim.Seq // number of the event that records the statement; 0 when there is none
	Output string  // of a show statement
}

// Start makes the cluster and executes the setup part, and after it every statement
// up to the first one that is not a command. Sinks get every event from the first.
// It fails with an *Error.
func (s *Script) Start(sinks ...func(*trace.Event)) (*Session, error) {
	x, _, err := s.start(sinks)
	return x, err
}

// start also says how many statements were executed.
func (s *Script) start(sinks []func(*trace.Event)) (*Session, int, error) {
	x := &Session{
		state: &trace.Snapshot{}, facts: newFacts(), marks: map[string]*markedPoint{}, sinks: sinks,
	}
	if s.Trace != nil {
		x.trace = &traceFile{w: s.Trace}
	}
	c, err := cluster.New(s.Config, x.sink)
	if err != nil {
		return nil, 0, &Error{File: s.File, Message: coreText(err)}
	}
	x.cluster = c
	if x.trace != nil {
		x.trace.begin(s, c)
	}
	x.began = c.Seq()
	x.begin()
	for i, st := range s.Statements {
		switch {
		case i < s.Setup && (st.form.statement.configure != nil):
			// It is in the config already.
		case st.form.statement.command != nil:
			if _, err := x.Execute(st); err != nil {
				return nil, 0, err
			}
		default:
			return x, i, nil
		}
	}
	return x, len(s.Statements), nil
}

// begin makes the present the start of everything that is looked back to.
func (s *Session) begin() {
	s.history.base = s.cluster.Seq()
	s.facts.rebase(s.view())
}

// BeginStep makes the present the start of a lesson's step: what seen and never look
// back to, and from where leader epochs are said to rise.
func (s *Session) BeginStep() { s.begin() }

// Cluster is the cluster. A rewind replaces it.
func (s *Session) Cluster() *cluster.Cluster { return s.cluster }

// State is the cluster's state, folded from its events. It must not be changed, and
// changes with the next step.
func (s *Session) State() *trace.Snapshot { return s.view().state }

// names is the cluster's tables of names. While the cluster is being made there is
// none yet.
func (s *Session) names() *trace.Names {
	if s.cluster == nil {
		return &trace.Names{Values: protocol.NewValues(), Partitions: &protocol.Catalog{}}
	}
	return s.cluster.Names()
}

func (s *Session) view() *view {
	v := &view{state: s.state, names: s.names(), facts: s.facts}
	if s.cluster != nil {
		// Time passes between events too.
		s.state.Time, s.state.Line = s.cluster.Now(), s.cluster.Rules().Line
		v.settings, v.violations = s.cluster.Settings, s.violations
	}
	return v
}

// sink gets every event of the cluster.
func (s *Session) sink(e *trace.Event) {
	v := s.view()
	n := s.facts.before(v, e)
	s.state.Apply(e)
	s.facts.after(v, e)
	if remembered(e) {
		s.history.add(n)
	}
	if s.watching != nil {
		s.watching.see(v, &n)
	}
	if s.trace != nil {
		s.trace.event(e, s.cluster)
	}
	for _, sink := range s.sinks {
		sink(e)
	}
}

// Context is what a statement can name now.
func (s *Session) Context() *Context {
	c := &Context{marks: map[string]*Context{}, running: true}
	for i := range s.state.Brokers {
		c.brokers = append(c.brokers, protocol.Broker(s.state.Brokers[i].ID))
	}
	for i := range s.state.Partitions {
		p := &s.state.Partitions[i]
		c.partitions = append(c.partitions, cluster.AddPartition{Partition: p.Name, Replicas: p.Replicas.List()})
	}
	for i := range s.state.Producers {
		c.producers = append(c.producers, s.names().Node(s.state.Producers[i].Node))
	}
	for i := range s.state.Readers {
		c.readers = append(c.readers, s.names().Node(s.state.Readers[i].Node))
	}
	for name := range s.marks {
		c.marks[name] = c
	}
	return c
}

// Execute executes one statement now. It fails with an *Error when it cannot be
// done, and with a *Failure when an expectation does not hold.
func (s *Session) Execute(st Statement) (Result, error) {
	if st.form == nil {
		return Result{}, nil
	}
	f := st.form.statement
	switch {
	case f.command != nil:
		seq, err := s.cluster.Do(f.command(st.args))
		if err != nil {
			return Result{}, st.errorf("%s", coreText(err))
		}
		return Result{Seq: seq}, nil
	case f.execute != nil:
		out, err := f.execute(s, st)
		return Result{Output: out}, err
	}
	return Result{}, st.errorf("%q makes a new cluster, so it can stand only at the start, before everything else", st.String())
}

// step takes one step of the cluster, or none when the next is after the deadline;
// then the deadline is the present. It reports whether it took one.
func (s *Session) step(deadline sim.Time) bool {
	if s.cluster.StepUntil(deadline) {
		return true
	}
	s.cluster.RunUntil(deadline)
	return false
}

func runFor(s *Session, st Statement) (string, error) {
	s.cluster.RunUntil(s.cluster.Now() + st.args[0].(sim.Time))
	return "", nil
}

func takeSteps(s *Session, st Statement) (string, error) {
	n := 1
	if st.args[0] != nil {
		n = st.args[0].(int)
	}
	for range n {
		s.cluster.Step()
	}
	return "", nil
}

// limit is how long a run until may take.
func limit(arg any) sim.Time {
	if d, ok := arg.(sim.Time); ok {
		return d
	}
	return UntilLimit
}

func runUntil(s *Session, st Statement) (string, error) {
	all := st.args[0].([]phrase)
	within := limit(st.args[1])
	deadline := s.cluster.Now() + within
	for {
		a := evaluateAll(s.view(), all)
		if a.truth == yes {
			return "", nil
		}
		if !s.step(deadline) {
			return "", s.failure(st, all, "not within "+protocol.FormatDuration(int64(within))+": "+a.fact)
		}
	}
}

func runUntilSeen(s *Session, st Statement) (string, error) {
	sequence := st.args[0].([][]phrase)
	m, err := s.lookBack(st, sequence)
	if err != nil {
		return "", err
	}
	return "", s.watch(st, m, limit(st.args[1]))
}

func runUntilNext(s *Session, st Statement) (string, error) {
	return "", s.watch(st, newMatcher([][]phrase{{st.args[0].(phrase)}}), UntilLimit)
}

// watch steps until the matcher is done.
func (s *Session) watch(st Statement, m *matcher, within sim.Time) error {
	s.watching = m
	defer func() { s.watching = nil }()
	deadline := s.cluster.Now() + within
	for !m.done() {
		if !s.step(deadline) {
			return s.failure(st, m.sequence[m.stage], "not within "+protocol.FormatDuration(int64(within))+m.progress())
		}
		m.step(s.view())
	}
	return nil
}

// progress says what of a sequence has been seen.
func (m *matcher) progress() string {
	if m.stage == 0 {
		return ": it has not happened"
	}
	return fmt.Sprintf(": the first %d of %d have happened, not yet: %s", m.stage, len(m.sequence), writePhrases(m.sequence[m.stage]))
}

// lookBack looks for a sequence from the base to the present.
func (s *Session) lookBack(st Statement, sequence [][]phrase) (*matcher, error) {
	m := newMatcher(sequence)
	if m.eventsOnly() && s.history.whole() {
		v := s.view()
		s.history.since(func(n *note) bool {
			m.see(v, n)
			return !m.done()
		})
		return m, nil
	}
	if err := s.replay(m); err != nil {
		return nil, st.errorf("looking back: %s", coreText(err))
	}
	return m, nil
}

// replay makes the run again and lets a matcher watch it from the base on, with the
// states between the steps.
func (s *Session) replay(m *matcher) error {
	x := &Session{state: &trace.Snapshot{}, facts: newFacts(), history: history{base: s.history.base}}
	return s.again(x.sink, func(c *cluster.Cluster) bool {
		x.cluster = c
		if c.Seq() >= x.history.base {
			x.watching = m
			m.step(x.view())
		}
		return !m.done()
	})
}

// again makes the run again from its recording, up to the present. After every step
// and command look is asked whether to go on.
func (s *Session) again(sink func(*trace.Event), look func(*cluster.Cluster) bool) error {
	recording, end := s.cluster.Recording(), s.cluster.Steps()
	c, err := cluster.New(recording.Config, sink)
	if err != nil {
		return err
	}
	more := look(c)
	stepTo := func(steps uint64) {
		for more && c.Steps() < steps {
			c.Step()
			more = look(c)
		}
	}
	for _, cmd := range recording.Commands {
		if stepTo(cmd.Steps); !more {
			return nil
		}
		if !cmd.Midway {
			c.RunUntil(cmd.At)
		}
		if _, err := c.Do(cmd.Command); err != nil {
			return err
		}
		more = look(c)
	}
	stepTo(end)
	return nil
}

// violations are the invariants that were violated since the start for no reason that
// Kafka itself has.
func (s *Session) violations() ([]check.Violation, error) {
	checker, err := s.check()
	return checker.Unexcused(), err
}

// check is what the checker has to say of the run so far. It watches a run from its
// first event, so it watches this one again.
func (s *Session) check() (*check.Checker, error) {
	checker := check.New(&trace.Names{Partitions: &protocol.Catalog{}, Values: protocol.NewValues()})
	err := s.again(checker.Observe, func(c *cluster.Cluster) bool {
		checker.Use(c.Names())
		return true
	})
	if err == nil {
		checker.Audit()
	}
	return checker, err
}

func settle(s *Session, st Statement) (string, error) {
	for i := range s.state.Producers {
		if p := &s.state.Producers[i]; p.Every != 0 {
			return "", st.errorf("the stream of %s never lets the cluster settle; stop stream %[1]s first", s.names().Node(p.Node))
		}
	}
	deadline := s.cluster.Now() + SettleLimit
	for !s.cluster.Settled() {
		if !s.step(deadline) {
			return "", s.failure(st, nil, "not settled within "+protocol.FormatDuration(int64(SettleLimit)))
		}
	}
	return "", nil
}

func mark(s *Session, st Statement) (string, error) {
	s.marks[st.args[0].(string)] = &markedPoint{
		cluster: s.cluster.Clone(), state: s.state.Clone(), facts: s.facts.clone(),
		notes: slices.Clip(s.history.notes), forgotten: s.history.forgotten,
	}
	s.facts.rebase(s.view())
	return "", nil
}

func rewind(s *Session, st Statement) (string, error) {
	m := s.marks[st.args[0].(string)]
	if m == nil {
		return "", st.errorf("there is no mark %q", st.args[0])
	}
	s.cluster = m.cluster.Clone()
	s.cluster.Observe(s.sink)
	s.state, s.facts = m.state.Clone(), m.facts.clone()
	s.history.notes, s.history.forgotten = slices.Clip(m.notes), m.forgotten
	for name, other := range s.marks {
		if other.cluster.Seq() > m.cluster.Seq() {
			delete(s.marks, name)
		}
	}
	s.begin()
	if s.trace != nil {
		s.trace.rewound(s.cluster)
	}
	return "", nil
}

func expect(s *Session, st Statement) (string, error) {
	all := st.args[0].([]phrase)
	if a := evaluateAll(s.view(), all); a.truth != yes {
		return "", s.failure(st, all, a.fact)
	}
	return "", nil
}

func expectSeen(s *Session, st Statement) (string, error) {
	m, err := s.lookBack(st, st.args[0].([][]phrase))
	if err != nil {
		return "", err
	}
	if !m.done() {
		return "", s.failure(st, m.sequence[m.stage], m.progress()[2:])
	}
	return "", nil
}

func expectNever(s *Session, st Statement) (string, error) {
	m, err := s.lookBack(st, st.args[0].([][]phrase))
	if err != nil {
		return "", err
	}
	if m.done() {
		return "", s.failure(st, m.sequence[len(m.sequence)-1], fmt.Sprintf("it has happened, at #%d", m.found))
	}
	return "", nil
}

// storyLines is how many events a failure shows.
const storyLines = 5

// failure is the failure of a statement about some phrases.
func (s *Session) failure(st Statement, about []phrase, message string) *Failure {
	f := &Failure{File: st.File, Line: st.Line, Statement: st.String(), Message: message}
	if touches := s.touching(about); touches != nil {
		f.Events = s.lastEvents(storyLines, touches)
	}
	return f
}

// touching tells events that touched what phrases are about: the records they name,
// else the partitions, else the clients, else the brokers.
func (s *Session) touching(about []phrase) func(*trace.Event) bool {
	var values []protocol.Value
	var partitions []protocol.Partition
	var clients, brokers []sim.NodeID
	v := s.view()
	var collect func(a any)
	collect = func(a any) {
		switch x := a.(type) {
		case protocol.TopicPartition:
			if p, ok := v.partition(x); ok {
				partitions = append(partitions, p)
			}
		case protocol.Broker:
			brokers = append(brokers, sim.NodeID(x))
		case []protocol.Broker:
			for _, b := range x {
				collect(b)
			}
		case []string:
			for _, t := range x {
				collect(t)
			}
		case string:
			if id := v.node(x); id >= 0 {
				clients = append(clients, id)
			} else if n, ok := v.names.Values.Find(x); ok {
				values = append(values, n)
			}
		}
	}
	for _, ph := range about {
		for _, a := range ph.args {
			collect(a)
		}
	}
	for _, value := range values {
		if r := s.state.Record(value); r != nil {
			partitions = append(partitions, r.Partition)
		}
	}
	for _, id := range clients {
		// What a producer is asked about is the fate of its records at their partition.
		if p := s.state.Producer(id); p != nil && len(values) == 0 {
			partitions = append(partitions, p.Partition)
		}
	}
	switch {
	case len(values) > 0:
		return func(e *trace.Event) bool {
			return slices.ContainsFunc(e.Values, func(x protocol.Value) bool { return slices.Contains(values, x) }) ||
				slices.ContainsFunc(e.Records, func(x protocol.Record) bool { return slices.Contains(values, x.Value) }) ||
				(e.Kind == trace.LogTruncated || e.Kind == trace.LogTailLost || e.Kind == trace.LeaderElected) && len(partitions) > 0 && slices.Contains(partitions, e.Partition)
		}
	case len(partitions) > 0:
		return func(e *trace.Event) bool { return ofPartition(e.Kind) && slices.Contains(partitions, e.Partition) }
	case len(clients)+len(brokers) > 0:
		nodes := append(clients, brokers...)
		return func(e *trace.Event) bool { return slices.Contains(nodes, e.Node) || slices.Contains(nodes, e.Peer) }
	}
	return nil
}
