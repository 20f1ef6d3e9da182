package search

import (
	"fmt"
	"slices"

	"tidemark/cluster"
	"tidemark/cluster/check"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// What must hold once everything is healed, beside the invariants of package check.
const (
	AtRest     = "at-rest"
	HasLeader  = "has-leader"
	FullISR    = "full-isr"
	Answered   = "answered"
	LogsAgree  = "logs-agree"
	ProbeAcked = "probe-acked"
	// CoreFailed is a panic of the core, of which only a caller that recovers can tell.
	CoreFailed = "core-failed"
)

const (
	// RestLimit is how long the cluster may take to come to rest, as the lab language's settle.
	RestLimit  = 300 * sim.Second
	probeLimit = 120 * sim.Second
	// haltsLimit is after how many halts a run is given up: each start leads to the next.
	haltsLimit = 3
)

// Failure is something that did not hold.
type Failure struct {
	Invariant string
	Cause     string // the kind of event at which it was violated; empty after the healing
	At        sim.Time
	Text      string
	Excuse    string // why Kafka itself allows it here; empty: a bug
	ofLine    bool   // the excuse is the release line's own
	// statement is what fails in the file that reproduces it.
	statement string
}

// Same reports whether two failures are of one class: what shrinking must keep.
func (f *Failure) Same(g *Failure) bool {
	return g != nil && f.Invariant == g.Invariant && f.Cause == g.Cause
}

// Outcome is what became of a run.
type Outcome struct {
	Failure *Failure  // the first bug, or nil
	Excused []Failure // of each invariant and excuse the first
	Steps   uint64
	Events  uint64
	Time    sim.Time
	Hash    uint64
	Acked   int // records of which a producer was told success

	recording cluster.Recording
}

// Lab is a file of the lab language that reproduces the failure, or the whole run when
// there is none.
func (o *Outcome) Lab() string {
	if o.Failure == nil {
		return o.recording.Lab(o.Time) + "expect invariants hold\n"
	}
	return o.recording.Lab(o.Failure.At) + o.Failure.statement + "\n"
}

// Runner runs schedules, one after another.
type Runner struct {
	Coverage  *Coverage // gets every event, when it is set
	Unchecked bool      // without the invariants of package check, to see what they cost
	// LookFor is an invariant whose violations are looked for, those of the release line's
	// own as well; violations of others are not bugs then.
	LookFor string
	latest  *execution
}

// AfterPanic is what became of the latest run, when the core panicked in it.
func (r *Runner) AfterPanic(text string) Outcome {
	x := r.latest
	if x.cluster == nil {
		return Outcome{Failure: &Failure{Invariant: CoreFailed, Cause: text, Text: text}, recording: cluster.Recording{Config: x.Config}}
	}
	now := x.cluster.Now()
	if next, ok := x.cluster.Next(); ok {
		now = max(now, next)
	}
	return Outcome{Failure: &Failure{Invariant: CoreFailed, Cause: text, At: now, Text: text, statement: "settle"}, Time: now, recording: x.cluster.Recording()}
}

// execution is a run under way.
type execution struct {
	*Schedule
	cluster *cluster.Cluster
	checker *check.Checker
	outcome Outcome
	excuses excuses
	causes  []trace.Kind // by violation: at which kind of event
	seen    int          // violations that were noted
	lookFor string
}

// Run runs a schedule to its end or to the first bug.
func (r *Runner) Run(s Schedule) Outcome {
	x := r.start(&s)
	for _, t := range s.timeline() {
		x.cluster.RunUntil(t.at)
		if x.failed() {
			return x.end()
		}
		_, _ = x.cluster.Do(t.command) // one that is refused changes nothing
	}
	return x.finish()
}

// start makes the cluster and its clients.
func (r *Runner) start(s *Schedule) *execution {
	x := &execution{Schedule: s, lookFor: r.LookFor}
	r.latest = x
	var sinks []func(*trace.Event)
	if !r.Unchecked {
		x.checker = check.New(nil)
		sinks = append(sinks, x.observe)
	}
	if r.Coverage != nil {
		r.Coverage.begin()
		sinks = append(sinks, r.Coverage.observe)
	}
	c, err := cluster.New(s.Config, sinks...)
	if err != nil {
		panic("search: a schedule without a cluster: " + err.Error()) // Options.Check has looked
	}
	x.cluster = c
	if x.checker != nil {
		x.checker.Use(c.Names())
	}
	for _, cmd := range s.Clients {
		if _, err := c.Do(cmd); err != nil {
			panic("search: " + err.Error())
		}
	}
	return x
}

func (x *execution) observe(e *trace.Event) {
	x.excuses.observe(e)
	x.checker.Observe(e)
	for len(x.causes) < len(x.checker.Violations) {
		x.causes = append(x.causes, e.Kind)
	}
}

// failed notes new violations and reports whether one of them is a bug.
func (x *execution) failed() bool {
	if x.checker == nil {
		return false
	}
	for i := x.seen; i < len(x.checker.Violations) && x.outcome.Failure == nil; i++ {
		v := &x.checker.Violations[i]
		f := Failure{Invariant: v.Invariant, Cause: x.causes[i].String(), At: v.Time, Text: v.Text, Excuse: v.Excuse, ofLine: v.OfLine, statement: "expect invariants hold"}
		x.note(f)
	}
	x.seen = len(x.checker.Violations)
	return x.outcome.Failure != nil
}

func (x *execution) note(f Failure) {
	switch {
	case x.lookFor == f.Invariant && (f.Excuse == "" || f.ofLine):
		f.statement = "show invariants"
		x.outcome.Failure = &f
		return
	case x.lookFor == "" && f.Excuse == "":
		x.outcome.Failure = &f
		return
	}
	if !slices.ContainsFunc(x.outcome.Excused, func(g Failure) bool { return g.Invariant == f.Invariant && g.Excuse == f.Excuse }) {
		x.outcome.Excused = append(x.outcome.Excused, f)
	}
}

// finish heals everything and looks whether the cluster converges.
func (x *execution) finish() Outcome {
	c := x.cluster
	c.RunUntil(x.Faults)
	x.heal()
	x.excuses.asks = 0
	if x.Rolling {
		x.roll()
	}
	switch {
	case !x.rest(RestLimit):
		if x.outcome.Failure == nil {
			x.restless()
		}
	default:
		x.converged()
	}
	x.failed()
	return x.end()
}

func (x *execution) end() Outcome {
	c, o := x.cluster, &x.outcome
	o.Steps, o.Events, o.Time, o.Hash, o.recording = c.Steps(), uint64(c.Seq()), c.Now(), c.Hash(), c.Recording()
	for _, r := range c.Snapshot().Records {
		if r.Fate == trace.Acked {
			o.Acked++
		}
	}
	return *o
}

// heal undoes all faults.
func (x *execution) heal() {
	c := x.cluster
	s := c.Snapshot()
	x.startStopped(s)
	for i := range s.Brokers {
		b := &s.Brokers[i]
		one := []protocol.Broker{protocol.Broker(b.ID)}
		if b.State == trace.ProcessFrozen {
			c.Do(cluster.Thaw{Brokers: one})
		}
		if b.FetchesHeld {
			c.Do(cluster.ReleaseFetches{Brokers: one})
		}
		if b.ControlHeld {
			c.Do(cluster.ReleaseControl{Brokers: one})
		}
	}
	for i := range s.Links {
		if s.Links[i].Cut {
			c.Do(cluster.Heal{})
			break
		}
	}
	for _, l := range s.Links {
		link := cluster.Link{From: c.Names().Node(l.From), To: c.Names().Node(l.To)}
		if l.Held {
			c.Do(cluster.Release{Link: link})
		}
		if l.Slow != 0 {
			c.Do(cluster.Slow{Link: link})
		}
	}
}

func (x *execution) startStopped(s *trace.Snapshot) {
	for i := range s.Brokers {
		if b := &s.Brokers[i]; b.State == trace.ProcessDown || b.State == trace.ProcessOff {
			x.cluster.Do(cluster.StartBrokers{Brokers: []protocol.Broker{protocol.Broker(b.ID)}})
		}
	}
}

// noticed is how long an operator leaves a broker down after its session has ended: the
// old lines take no notice of one that is back before their controller has looked.
const noticed = 5 * sim.Second

// roll restarts the brokers one by one.
func (x *execution) roll() {
	session := sim.Time(x.cluster.Settings().ZooKeeperSessionTimeout)
	for _, b := range x.Config.Brokers {
		x.rest(10 * sim.Second)
		if x.outcome.Failure != nil || x.excuses.halts > haltsLimit {
			return
		}
		x.cluster.Do(cluster.StopBrokers{Brokers: []protocol.Broker{b}})
		x.cluster.RunUntil(x.cluster.Now() + session + noticed)
		x.cluster.Do(cluster.StartBrokers{Brokers: []protocol.Broker{b}})
	}
}

// rest waits until the cluster is at rest and reports whether it came to that in time.
// A shutdown that was still under way ends meanwhile; its broker is started again.
func (x *execution) rest(limit sim.Time) bool {
	c := x.cluster
	for end := c.Now() + limit; !c.Settled(); {
		if c.Now() >= end || x.failed() || x.excuses.halts > haltsLimit {
			return false
		}
		c.RunUntil(min(c.Now()+500*sim.Millisecond, end))
		x.startStopped(c.Snapshot())
	}
	return !x.failed()
}

// restless says why the cluster is not at rest.
func (x *execution) restless() {
	s := x.cluster.Snapshot()
	f := Failure{Invariant: AtRest, At: x.lastCommand(), Text: "something goes on for ever", statement: "settle"}
	effective, planned := x.rules()
	f.Excuse = x.excuses.ofRest(planned)
	for p := range s.Partitions {
		state := x.state(s, p)
		switch {
		case state.Leader == protocol.NoBroker:
			f.Invariant, f.Text = HasLeader, fmt.Sprintf("%s has no leader", s.Partitions[p].Name)
		case state.ISR != s.Partitions[p].Replicas.Set():
			r := s.Replica(sim.NodeID(state.Leader), protocol.Partition(p))
			if effective.RereadRefusedISRWrite && f.Excuse == "" && r != nil && r.LeaderEpoch == state.LeaderEpoch && r.ISR != state.ISR {
				f.Excuse = excuseStaleVersion
			}
			f.Invariant, f.Text = FullISR, fmt.Sprintf("the ISR of %s is %s of the assigned %s", s.Partitions[p].Name, state.ISR, s.Partitions[p].Replicas.Set())
		default:
			continue
		}
		break
	}
	if f.Invariant == AtRest {
		for i := range s.Records {
			if r := &s.Records[i]; r.Fate == trace.Queued || r.Fate == trace.Sent {
				f.Invariant, f.Text = Answered, fmt.Sprintf("producer %s has no answer for a record", x.cluster.Names().Node(r.Producer))
				break
			}
		}
	}
	f.Text += fmt.Sprintf(" %d s after everything was healed", RestLimit/sim.Second)
	x.note(f)
}

// lastCommand is when the last command was given; what fails to come to rest fails from
// there on.
func (x *execution) lastCommand() sim.Time {
	commands := x.cluster.Recording().Commands
	if len(commands) == 0 {
		return 0
	}
	return commands[len(commands)-1].At
}

func (x *execution) state(s *trace.Snapshot, p int) coord.State {
	state := coord.State{Leader: protocol.NoBroker}
	if z := s.Znode(coord.StatePath(s.Partitions[p].Name)); z != nil {
		if decoded, err := coord.DecodeState(z.Data); err == nil {
			state = decoded
		}
	}
	return state
}

// converged looks at a cluster at rest.
func (x *execution) converged() {
	s := x.cluster.Snapshot()
	now := x.cluster.Now()
	for p := range s.Partitions {
		name := s.Partitions[p].Name
		state := x.state(s, p)
		set := s.Partitions[p].Replicas.Set()
		switch {
		case state.Leader == protocol.NoBroker:
			x.note(Failure{Invariant: HasLeader, At: now, Text: fmt.Sprintf("%s has no leader", name), statement: fmt.Sprintf("expect not %s is offline", name)})
		case state.ISR != set:
			x.note(Failure{Invariant: FullISR, At: now, Text: fmt.Sprintf("the ISR of %s is %s of the assigned %s", name, state.ISR, set), statement: fmt.Sprintf("expect %s is fully replicated", name)})
		default:
			x.sameLogs(s, protocol.Partition(p), state.Leader)
		}
		if x.outcome.Failure != nil {
			return
		}
	}
	x.probe(s)
}

// sameLogs compares the logs of a partition with its leader's.
func (x *execution) sameLogs(s *trace.Snapshot, p protocol.Partition, leader protocol.Broker) {
	name := s.Partitions[p].Name
	effective, planned := x.rules()
	l := s.Replica(sim.NodeID(leader), p)
	for b := range s.Partitions[p].Replicas.Set().All {
		r := s.Replica(sim.NodeID(b), p)
		// As the lab language's «logs are identical»: the same record may have come twice, with
		// two leader epochs.
		if r == nil || l == nil || r.LogStart == l.LogStart && slices.EqualFunc(r.Records, l.Records, func(a, b protocol.Record) bool { return a.Value == b.Value }) {
			continue
		}
		x.note(Failure{Invariant: LogsAgree, At: x.cluster.Now(), Excuse: x.excuses.ofLogs(p, effective, planned),
			Text:      fmt.Sprintf("the logs of %s differ on %d and on its leader %d", name, b, leader),
			statement: fmt.Sprintf("expect logs of %s are identical", name)})
		return
	}
}

// probe sends one more record to every partition and waits for its acknowledgement.
func (x *execution) probe(s *trace.Snapshot) {
	c := x.cluster
	settings := c.Settings()
	end := sim.Time(0)
	for p := range s.Partitions {
		if settings.MinISR(s.Partitions[p].Name.Topic) > s.Partitions[p].Replicas.Set().Len() {
			continue // as it was asked for
		}
		name := fmt.Sprint("Probe", p)
		c.Do(cluster.AddProducer{Name: name, Acks: protocol.AcksAll, Partition: s.Partitions[p].Name, Retries: 10_000, Timeout: 5 * sim.Second, Inflight: 1})
		c.Do(cluster.Send{Producer: name, Values: []string{fmt.Sprint("probe ", p)}})
		end = c.Now() + probeLimit
	}
	for c.Now() < end && !x.failed() {
		late := ""
		for _, r := range c.Snapshot().Records {
			if text := c.Names().Values.Text(r.Value); r.Fate != trace.Acked && len(text) > 6 && text[:6] == "probe " {
				late = text
			}
		}
		if late == "" {
			return
		}
		if c.RunUntil(min(c.Now()+200*sim.Millisecond, end)); c.Now() == end {
			x.note(Failure{Invariant: ProbeAcked, At: x.lastCommand(), Text: fmt.Sprintf("record %q is not acknowledged %d s after the cluster came to rest", late, probeLimit/sim.Second),
				statement: fmt.Sprintf("run until record %q is acked within %ds", late, probeLimit/sim.Second)})
		}
	}
}
