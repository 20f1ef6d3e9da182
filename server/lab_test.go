package server

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tidemark/cluster/script"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

func makeLab(t testing.TB, kafka string) *labRun {
	t.Helper()
	r, err := MakeRun(kafka, func(*trace.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return r.(*labRun)
}

// A recording is the same run when it is run: the same events and the same hash.
func TestRecordingMakesTheRunAgain(t *testing.T) {
	statements := []string{
		`stop broker 1`, `start broker 1`, `stop broker 2`, `start broker 2`, `power off 4`, `start broker 4`, `send P "x"`,
		`send Q 20`, `cut 1 - 2`, `heal`, `freeze broker 3`, `thaw broker 3`, `set P acks 1`, `set P acks all`, `stop stream P`,
		`show brokers`, `expect broker 1 is up`, `nonsense`, `hold 1 -> 3`, `release 1 -> 3`,
	}
	for _, kafka := range Kafkas() {
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := makeLab(t, kafka)
			for range 60 {
				switch random.IntN(3) {
				case 0:
					r.RunUntil(r.Now() + sim.Time(random.IntN(1_500_000)))
				case 1:
					for range random.IntN(20) {
						r.Step()
					}
				case 2:
					_, _ = r.Execute(statements[random.IntN(len(statements))])
				}
			}
			text := r.Recording()
			s, err := script.Parse("recording.lab", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			again, err := s.Run(nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			c := again.Cluster()
			if c.Hash() != r.Hash() || c.Seq() != r.Seq() || c.Now() != r.Now() || c.Steps() != r.Steps() {
				t.Fatalf("kafka %s, seed %d: again %v #%d, was %v #%d\n%s", kafka, seed, c.Now(), c.Seq(), r.Now(), r.Seq(), text)
			}
		}
	}
}

func TestStatementsThatDriveTimeAreRefused(t *testing.T) {
	r := makeLab(t, "0.10")
	for _, s := range []string{"run 5s", "run until topic1-0 HW is 3", "settle", "step", "step 5", `mark "x"`, `rewind "x"`, `run until next controller moved to 2`} {
		if _, err := r.Execute(s); err != errTime {
			t.Errorf("%s: %v", s, err)
		}
	}
	if r.Now() != 0 {
		t.Errorf("it is %v", r.Now())
	}
}

func TestRecordingStaysReadable(t *testing.T) {
	r := makeLab(t, "0.10")
	var err error
	n := 0
	for ; err == nil && n < script.MaxStatements; n++ {
		r.RunUntil(r.Now() + 1)
		_, err = r.Execute("set P acks all")
	}
	if err != errLong {
		t.Fatalf("after %d statements: %v", n, err)
	}
	if _, err := script.Parse("recording.lab", r.Recording()); err != nil {
		t.Error(err)
	}
	if _, err := r.Execute("show brokers"); err != nil {
		t.Error("what is not recorded still works:", err)
	}
}

func TestLinesThatAreNotThere(t *testing.T) {
	for _, kafka := range []string{"", "9", "0.10 ", strings.Repeat("x", 1000)} {
		if _, err := MakeRun(kafka, func(*trace.Event) {}); err == nil {
			t.Errorf("kafka %q was made", kafka)
		}
	}
}

// Whatever a statement says, the server has an answer.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{
		`stop broker 1`, `send P "A" "B"`, `batch P "A"`, `stream P every 1ms`, `slow 1 -> 2 by 1440m`, `producer X acks 0 to topic1-0 inflight 1000 retries 1000000`,
		`reader Y on topic1-1 from 1099511627776 reset none manual`, `topic t-99999 on 1 2 3`, `topic topic1-2 on 1`, `set topic1 min.insync.replicas 9`,
		`power off 1 keeping 99 of topic1-0`, `wipe 1`, `wipe checkpoint of 1`, `expect not topic1-0 HW is <= -1`, `expect seen broker 1 stopped then broker 1 started`,
		`cut P - zk`, `isolate 4`, `drop next answer 1 -> P`, `elect preferred topic1-0`, `show events 1000000`, `show ledger`, `# nothing`, `kafka 2.4`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, statement string) {
		frame := `{"op":"do","id":1,"statement":` + string(appendText(nil, statement)) + `}`
		limits := DefaultLimits()
		request, err := decodeRequest([]byte(frame), &limits)
		if err != nil || len(frame) > limits.FrameBytes {
			return
		}
		r := makeLab(t, "2.4")
		r.RunUntil(sim.Second)
		_, err = r.Execute(request.Statement)
		if err != nil {
			explain(err)
		}
		for range 200 { // what it led to must not break the core either
			r.Step()
		}
		if _, err := script.Parse("recording.lab", r.Recording()); err != nil {
			t.Fatal(err)
		}
	})
}
