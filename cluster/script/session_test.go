package script

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"tidemark/cluster"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

const setup = `kafka 0.10
brokers 1 2 3 4, controller 4
set unclean.leader.election.enable false
topic topic1-0 on 1 2 3
producer P acks all to topic1-0
reader R on topic1-0
`

// run runs a script to its end or first error.
func run(t *testing.T, source string) (*Session, string, error) {
	t.Helper()
	s, err := Parse("x.lab", source)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	x, err := s.Run(&shown)
	return x, shown.String(), err
}

func mustRun(t *testing.T, source string) *Session {
	t.Helper()
	x, _, err := run(t, source)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// do executes a line on a live session.
func do(t *testing.T, x *Session, line string) (Result, error) {
	t.Helper()
	st, err := ParseLine(line, x.Context())
	if err != nil {
		return Result{}, err
	}
	return x.Execute(st)
}

func TestTheExampleOfTheLanguageHolds(t *testing.T) {
	mustRun(t, lossExample)
	_, _, err := run(t, strings.Replace(lossExample, "kafka 0.10", "kafka 2.4", 1))
	if StatusOf(err) != Failed {
		t.Errorf("with leader epochs nothing is truncated: %v", err)
	}
}

func TestTheStateIsThatOfTheNodes(t *testing.T) {
	x := mustRun(t, setup+"send P 5\nrun 3s\nstop broker 1\nrun 7s\nstart broker 1\nrun 300ms\n")
	have, want := x.State(), x.Cluster().Snapshot()
	if string(have.AppendJSON(nil, x.Cluster().Names())) != string(want.AppendJSON(nil, x.Cluster().Names())) {
		t.Error("the folded state differs from the snapshot")
	}
}

func TestTheArticlesClusterStarts(t *testing.T) {
	var first, last sim.Seq
	x, err := ArticleConfig("0.10").Start(func(e *trace.Event) {
		if first == 0 {
			first = e.Seq
		}
		last = e.Seq
	})
	if err != nil {
		t.Fatal(err)
	}
	if first != 1 || last != x.Cluster().Seq() {
		t.Errorf("a sink got events %d to %d of %d", first, last, x.Cluster().Seq())
	}
	if x.Cluster().Now() != 0 {
		t.Errorf("it starts at %s", x.Cluster().Now())
	}
	for _, line := range []string{
		`expect topic1-0 leader is 1 and topic1-1 leader is 4`, `expect controller is 4`, `expect topic1-0 ISR is 1 2 3`,
		`run 10s`, `expect acked records of P is >= 20`, `expect R has read 20 records`, `expect lost records of P is 0 and lost records of Q is 0`, `expect invariants hold`,
	} {
		if _, err := do(t, x, line); err != nil {
			t.Error(err)
		}
	}
}

func TestALiveSession(t *testing.T) {
	x := mustRun(t, setup)
	r, err := do(t, x, `send P "A"`)
	if err != nil || r.Seq == 0 || r.Output != "" {
		t.Errorf("%+v %v", r, err)
	}
	// Whoever has the session may step the cluster.
	x.Cluster().RunUntil(2 * sim.Second)
	if r, err = do(t, x, `show ledger`); err != nil || r.Seq != 0 || !strings.HasPrefix(r.Output, `"A" of P: acked at 0`) {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := do(t, x, `send P "A"`); StatusOf(err) != Broken || !strings.Contains(err.Error(), "sent already") {
		t.Error(err)
	}
	if _, err := do(t, x, `start broker 1`); StatusOf(err) != Broken || !strings.Contains(err.Error(), "broker 1 is up") {
		t.Error(err)
	}
	if _, err := do(t, x, `kafka 2.4`); StatusOf(err) != Broken || !strings.Contains(err.Error(), "makes a new cluster") {
		t.Error(err)
	}
	if _, err := do(t, x, `expect topic1-0 leader is 2`); StatusOf(err) != Failed {
		t.Error(err)
	}
	for _, line := range []string{`producer N acks 1 to topic1-0`, `send N "B"`, `topic t-0 on 2 3`, `set t min.insync.replicas 2`, `run 1s`, `expect t-0 leader is 2`, `expect setting t min.insync.replicas is 2`, `expect seen R got "B"`} {
		if _, err := do(t, x, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAFailureSaysWhereWhatAndWhatTouchedIt(t *testing.T) {
	_, _, err := run(t, setup+"send P \"A\"\nsettle\n\nexpect topic1-0 HW is 3\n")
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if f.Line != 10 || f.File != "x.lab" || f.Message != "topic1-0 HW is 1" || f.Statement != "expect topic1-0 HW is 3" {
		t.Errorf("%+v", f)
	}
	if len(f.Events) != 5 || !strings.Contains(f.Events[4], "HW of topic1-0 on 3 rose to 1") {
		t.Errorf("%q", f.Events)
	}
	if want := "x.lab:10: expect topic1-0 HW is 3: topic1-0 HW is 1\n\t#"; !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

func TestSeenAndNeverLookBack(t *testing.T) {
	const story = setup + "send P \"A\"\nsettle\nstop broker 1\nrun until topic1-0 leader is 2\n"
	for line, want := range map[string]Status{
		`expect seen broker 1 stopped`: Held,
		`expect seen broker 1 stopped then session of broker 1 expired then controller 4 elected 2 for topic1-0`: Held,
		`expect seen session of broker 1 expired then broker 1 stopped`:                                          Failed,
		`expect seen broker 2 stopped`:              Failed,
		`expect never broker 2 stopped`:             Held,
		`expect never any broker stopped`:           Failed,
		`expect never unclean election of topic1-0`: Held,
		// Conditions are looked for in every state between two steps.
		`expect seen topic1-0 HW is 1 and HW of topic1-0 on 2 is 0`:             Held,
		`expect seen topic1-0 HW is 0 and HW of topic1-0 on 2 is 1`:             Failed,
		`expect never topic1-0 leader is 3`:                                     Held,
		`expect never topic1-0 leader is 1`:                                     Failed,
		`expect seen topic1-0 HW is 1 then broker 1 stopped`:                    Held,
		`expect seen broker 1 stopped then topic1-0 leader is 1`:                Failed,
		`expect seen broker 1 stopped then broker 1 is down`:                    Held,
		`expect seen R got "A" and record "A" is acked`:                         Held,
		`expect seen record "A" is acked and not R has read "A" then R got "A"`: Held,
		`expect seen R got "A" and record "A" of topic1-0 is on 1 2 3`:          Held,
		`expect seen broker 1 is up then broker 1 is not up`:                    Held,
		`expect seen ISR of topic1-0 changed at least 1 times`:                  Held,
		`expect seen ISR of topic1-0 changed at least 2 times`:                  Failed,
		`run until seen broker 1 stopped`:                                       Held,
		`run until seen topic1-0 HW is 1 then broker 1 stopped`:                 Held,
		`run until next broker 1 stopped`:                                       Failed,
		`run until seen broker 2 stopped within 1s`:                             Failed,
		// What happened before time 0 is not seen.
		`expect never controller moved to 4`:                    Held,
		`expect never broker 4 started`:                         Held,
		`expect never ISR of topic1-0 changed at least 2 times`: Held,
	} {
		_, _, err := run(t, story+line)
		if StatusOf(err) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestRunUntil(t *testing.T) {
	x := mustRun(t, setup+"run until broker 1 is up\n")
	if x.Cluster().Now() != 0 {
		t.Error("it is tested before the first step too")
	}
	x = mustRun(t, setup+"send P \"A\"\nrun until record \"A\" of topic1-0 is on 1\n")
	if now := x.Cluster().Now(); now != 150*sim.Millisecond {
		t.Errorf("it stops at %s, not after the first step after which it is true", now)
	}
	x, _, err := run(t, setup+"run 1s\nrun until topic1-0 leader is 2 within 10s\n")
	if StatusOf(err) != Failed || x.Cluster().Now() != 11*sim.Second || !strings.Contains(err.Error(), "not within 10s: topic1-0 leader is 1") {
		t.Error(err, x.Cluster().Now())
	}
	x, _, err = run(t, setup+"run until topic1-0 leader is 2\n")
	if StatusOf(err) != Failed || x.Cluster().Now() != UntilLimit {
		t.Error(err, x.Cluster().Now())
	}
}

func TestRunAndStep(t *testing.T) {
	x := mustRun(t, setup+"run 1234us\n")
	if now := x.Cluster().Now(); now != 1234 {
		t.Errorf("now is %s", now)
	}
	before := x.Cluster().Steps()
	for line, steps := range map[string]uint64{`step`: 1, `step 5`: 5} {
		if _, err := do(t, x, line); err != nil || x.Cluster().Steps()-before != steps {
			t.Errorf("%s took %d steps, %v", line, x.Cluster().Steps()-before, err)
		}
		before = x.Cluster().Steps()
	}
}

func TestSettle(t *testing.T) {
	x := mustRun(t, setup+"send P 5\nsettle\nexpect topic1-0 HW is 5 and HW of topic1-0 on 3 is 5\n")
	if now := x.Cluster().Now(); now > 3*sim.Second {
		t.Errorf("it took until %s", now)
	}
	// acks=1: the producer is told long before the HW rises.
	mustRun(t, setup+"producer Q acks 1 to topic1-0\nsend Q \"A\"\nsettle\nexpect topic1-0 HW is 1\n")
	mustRun(t, setup+"producer Q acks 0 to topic1-0\nsend Q \"A\"\nsettle\nexpect topic1-0 HW is 1\n")
	// A dead broker's session and ISR membership are waited for; a started one's return too.
	mustRun(t, setup+"stop broker 3\nsettle\nexpect topic1-0 ISR is 1 2\nstart broker 3\nsettle\nexpect topic1-0 ISR is 1 2 3\n")
	// Held parts are not.
	mustRun(t, setup+"hold fetches of 3\nrun 20s\nsend P \"A\"\nsettle\nexpect topic1-0 ISR is 1 2\n")
	_, _, err := run(t, setup+"stream P every 100ms\nrun 1s\nsettle\n")
	if StatusOf(err) != Broken || !strings.Contains(err.Error(), "x.lab:9:1: the stream of P never lets the cluster settle") {
		t.Error(err)
	}
	mustRun(t, setup+"stream P every 100ms\nrun 1s\nstop stream P\nsettle\nexpect acked records of P is >= 9\n")
}

func TestARewindStartsABranch(t *testing.T) {
	x := mustRun(t, setup+`send P "A"
settle
mark "a"
send P "B"
run 1s
mark "b"
stop broker 1
run until topic1-0 leader is 2
expect leader epoch of topic1-0 rose
rewind "a"
expect not leader epoch of topic1-0 rose
expect never broker 1 stopped
expect never broker 2 is down
expect record "B" is not acked
expect topic1-0 leader is 1
send P "B"
run 1s
expect record "B" is acked
expect seen produce from P to 1
rewind "a"
expect never produce from P to 1
expect never record "B" of topic1-0 is on 1 2 3
send P "C"
run 1s
show ledger
`)
	if _, err := do(t, x, `rewind "b"`); err == nil {
		t.Error("a mark of another branch is still there")
	}
	want := mustRun(t, setup+"send P \"A\"\nsettle\nsend P \"C\"\nrun 1s\n")
	if x.Cluster().Hash() != want.Cluster().Hash() {
		t.Error("the branch is not the run that it should be")
	}
}

// A run is a function of its script.
func TestRunsAreEqual(t *testing.T) {
	const source = setup + "set network.jitter 20ms\nstream P every 70ms\nrun 5s\nstop broker 2\nrun 10s\nstart broker 2\nrun 10s\n"
	one, other := mustRun(t, source), mustRun(t, source)
	if one.Cluster().Hash() != other.Cluster().Hash() || one.Cluster().Seq() != other.Cluster().Seq() {
		t.Error("two runs of a script differ")
	}
	another := mustRun(t, "seed 2\n"+source)
	if one.Cluster().Hash() == another.Cluster().Hash() {
		t.Error("the seed makes no difference")
	}
}

// Looking back replays the run: it must not change it.
func TestLookingBackLeavesTheRunAlone(t *testing.T) {
	x := mustRun(t, setup+"send P 3\nrun 2s\n")
	hash, seq, state := x.Cluster().Hash(), x.Cluster().Seq(), x.State().Clone()
	for _, line := range []string{`expect seen topic1-0 HW is 3`, `expect never topic1-0 is offline`, `expect invariants hold`} {
		if _, err := do(t, x, line); err != nil {
			t.Error(err)
		}
	}
	if x.Cluster().Hash() != hash || x.Cluster().Seq() != seq || !reflect.DeepEqual(x.State(), state) {
		t.Error("the run has changed")
	}
}

func TestStartStopsAtTheFirstStatementThatIsNoCommand(t *testing.T) {
	s, err := Parse("x.lab", setup+"send P \"A\"\nrun 1s\nstop broker 1\n")
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	if x.Cluster().Now() != 0 || len(x.State().Records) != 1 || x.State().Broker(1).State != trace.ProcessUp {
		t.Errorf("now is %s", x.Cluster().Now())
	}
}

func TestAStepBeginsAnew(t *testing.T) {
	x := mustRun(t, setup+"stop broker 1\nrun until topic1-0 leader is 2\n")
	x.BeginStep()
	for _, line := range []string{`expect never broker 1 stopped`, `expect not leader epoch of topic1-0 rose`, `expect never broker 1 is up`} {
		if _, err := do(t, x, line); err != nil {
			t.Error(err)
		}
	}
}

func TestAnErrorOfTheCoreIsAnErrorOfTheScript(t *testing.T) {
	s := &Script{File: "x.lab", Config: cluster.Config{}}
	if _, err := s.Run(nil); StatusOf(err) != Broken || err.Error() != "x.lab: no brokers" {
		t.Error(err)
	}
}

// A session remembers only so many events. What it has forgotten is found by making the
// run again.
func TestALongRunIsLookedBackToAsAWhole(t *testing.T) {
	x := mustRun(t, setup+"stop broker 3\nrun 10s\nstart broker 3\nstream P every 20ms\nrun 4m\n")
	if x.history.whole() {
		t.Fatal("the run is too short")
	}
	for _, line := range []string{`expect seen broker 3 stopped then broker 3 started`, `expect never broker 1 stopped`, `expect seen broker 3 is down`, `run until seen session of broker 3 expired within 1s`} {
		if _, err := do(t, x, line); err != nil {
			t.Error(err)
		}
	}
	if len(x.history.notes) > MaxHistory {
		t.Error("too much is remembered")
	}
}
