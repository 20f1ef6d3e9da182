package script

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// world is a context with brokers 1 to 4, two partitions, and clients.
func world() *Context {
	c := newContext()
	c.brokers, c.assumed, c.running = []protocol.Broker{1, 2, 3, 4}, false, true
	for _, tp := range []string{"topic1-0", "topic1-1"} {
		p, _ := protocol.ParseTopicPartition(tp)
		c.partitions = append(c.partitions, cluster.AddPartition{Partition: p, Replicas: []protocol.Broker{1, 2, 3}})
	}
	c.producers = []string{"P", "Q", "P1", "Pall"}
	c.readers = []string{"R", "S"}
	c.marks["x"] = c
	return c
}

// Every form of the language's description, and the statement it is read as when
// that is written in another way.
var language = []string{
	`set min.insync.replicas 2`,
	`set topic1 min.insync.replicas 2`,
	`set unclean.leader.election.enable true`,
	`set P acks all`,
	`producer X acks all to topic1-0`,
	`producer X acks 1 to topic1-0 retries 3 timeout 5s inflight 1`,
	`producer X acks all to topic1-0 retries 5 idempotent`,
	`reader X on topic1-0`,
	`reader X on topic1-0 from 0 reset earliest manual`,
	`reader X on topic1-0 reset none`,
	`topic topic2-0 on 2 1`,
	`send P "A" "B"`,
	`send P 20`,
	`batch P "A" "B"`,
	`stream P every 100ms`,
	`stop stream P`,
	`poll R`,
	`seek R 0`,
	`commit R`,
	`stop broker 1`,
	`stop broker 1 2`,
	`shut down broker 1`,
	`power off 1 2 3`,
	`power off 2 keeping 1 of topic1-0`,
	`wipe 3`,
	`wipe checkpoint of 3`,
	`start broker 1`,
	`freeze broker 3`,
	`thaw broker 3`,
	`cut 1 - zookeeper`,
	`cut 1 - zk => cut 1 - zookeeper`,
	`cut 1 - 2`,
	`cut 1 -> 2`,
	`cut P - 1`,
	`heal`,
	`heal 1 - 2`,
	`isolate 1`,
	`slow 1 -> 3 by 1000ms => slow 1 -> 3 by 1s`,
	`slow 1 -> 3 by 0ms`,
	`slow disk of 3 by 200ms`,
	`slow disk of 3 by 0ms`,
	`drop next answer 1 -> P`,
	`drop next fetch 2 -> 1`,
	`drop next control 4 -> 3`,
	`drop next zookeeper answer to 1`,
	`hold 1 -> 3`,
	`release 1 -> 3`,
	`deliver next fetch 2 -> 1`,
	`deliver next leader_and_isr 1 -> 3`,
	`hold fetches of 2 3`,
	`release fetches of 2 3`,
	`hold control to 3`,
	`release control to 3`,
	`expire session of 2`,
	`flush broker 1`,
	`checkpoint broker 1`,
	`elect preferred topic1-0`,
	`elect unclean topic1-0`,
	`reassign topic1-0 to 4 2 3`,
	`trim topic1-0 to 500`,
	`run 500ms`,
	`run until topic1-0 leader is 2`,
	`run until topic1-0 leader is 2 within 10s`,
	`run until next broker 3 truncated topic1-0 to 1`,
	`run until seen broker 3 truncated topic1-0 to 1`,
	`run until seen broker 3 stopped then broker 3 started within 30s`,
	`settle`,
	`step`,
	`step 5`,
	`mark "x"`,
	`rewind "x"`,
	`show topic1-0`,
	`show brokers`,
	`show zookeeper`,
	`show ledger`,
	`show events 20`,
	`expect seen R got nothing and record "C" of topic1-0 is on 1`,
	`expect topic1-0 HW is 3 and HW of topic1-0 on 2 is 2`,
	`  send   P  "A"   # says "hello"  => send P "A"`,
	`send P "# not a comment"`,
	`send P "一" "é"`,
}

var conditions = []string{
	`broker 2 is up`, `broker 2 is down`, `broker 2 is frozen`, `brokers 1 2 are down`,
	`controller is 4`, `controller epoch is >= 2`,
	`broker 4 believes it is controller`, `broker 1 believes it leads topic1-0`,
	`topic1-0 leader is 2`,
	`topic1-0 is offline`,
	`topic1-0 ISR is 1 2 3`, `topic1-0 ISR includes 3`, `topic1-0 ISR size is >= 2`,
	`topic1-0 is fully replicated`, `topic1-0 is under-replicated`,
	`topic1-0 HW is 3`, `HW of topic1-0 on 2 is 3`,
	`LEO of topic1-0 on 2 is 4`, `LEO of topic1-0 on 2 is behind by >= 5`,
	`log of topic1-0 on 2 is "A" "B"`, `log of topic1-0 on 2 is empty`,
	`leader epoch of topic1-0 is 3`, `leader epoch of topic1-0 rose`,
	`logs of topic1-0 are identical`, `logs of topic1-0 diverge at 1`,
	`record "D" of topic1-0 is on 1 2`, `record "D" of topic1-0 is at least on 1 2`, `record "D" of topic1-0 is on no broker`, `record "D" of topic1-0 is not on 2 3`,
	`record "D" of topic1-0 is committed`, `record "D" of topic1-0 is not committed`,
	`record "D" of topic1-0 is on disk of 1`,
	`record "D" of topic1-0 appears 2 times`, `record "D" of topic1-0 on 2 has epoch 1`,
	`record "D" is acked`, `record "D" is not acked`, `record "D" is failed`, `record "D" is unanswered`,
	`record "D" is lost`, `record "D" is not lost`,
	`acked records of P is 5`, `lost records of P is 0`, `duplicates of P is 0`, `out of order records of P is 0`,
	`P got error NOT_ENOUGH_REPLICAS`, `P got an error`,
	`writes of P available >= 90%`,
	`R has read "D"`, `R has read "D" "E"`, `R has read 20 records`, `R position is 3`, `R position is above the end of topic1-0`,
	`R committed position is 3`, `R read a record twice`, `R position went down`, `R got error OFFSET_OUT_OF_RANGE`,
	`setting topic1 min.insync.replicas is 2`, `setting min.insync.replicas is 2`, `setting P acks is all`,
	`zookeeper is unreachable`, `link 1 - 2 is cut`, `link 1 -> 2 is not cut`,
	`told delay of "D" is under 200ms`, `readable delay of "D" is under 200ms`, `told delay of P is over 1000ms => told delay of P is over 1s`, `told delay max of P is >= 4000ms => told delay max of P is >= 4s`,
	`readable delay of "a" equals readable delay of "b"`,
	`not topic1-0 leader is 2 => topic1-0 leader is not 2`,
	`not R got an error`,
	`not record "D" of topic1-0 is on 1 2`,
	`not R has read "D" => R has not read "D"`,
}

var events = []string{
	`session of broker 3 expired`, `session of any broker expired`, `controller 4 elected 2 for topic1-0`,
	`controller moved to 2`, `unclean election of topic1-0`, `leader 1 shrank ISR of topic1-0 to 1 2`, `leader 1 expanded ISR of topic1-0 to 1 2 3`,
	`leader 1 shrank ISR of topic1-0`,
	`controller shrank ISR of topic1-0 to 1 2`, `ISR of topic1-0 changed at least 4 times`, `ISR of topic1-0 changed`, `broker 3 truncated topic1-0 to 2`,
	`any broker truncated a committed record of topic1-0`, `fetch from 3 to 1 at 2`, `fetch from 3 to 1`, `fetch from R to 2`, `R got "A"`, `R got nothing`, `epoch request from 3 to 2`, `metadata from 1 to P with ISR 1 2 of topic1-0`,
	`produce from P to 1`, `P learned leader 2 of topic1-0`, `broker 3 stopped`, `broker 3 started`, `broker 3 lost power`,
	`broker 3 halted`, `broker 3 thawed after >= 5000ms => broker 3 thawed after >= 5s`, `any broker lost power`, `ISR update of broker 1 refused`, `ISR update of broker 1 blocked`,
	`request of broker 4 rejected as stale controller epoch`, `fetch of broker 3 rejected as fenced`, `registration of broker 1 refused`,
	`broker 1 recognised duplicate "E"`, `any broker recognised duplicate "E"`,
}

func lines() []string {
	l := append([]string(nil), language...)
	wrap := func(prefix, line string) string {
		from, to, changed := strings.Cut(line, " => ")
		if !changed {
			return prefix + line
		}
		return prefix + from + " => " + prefix + to
	}
	for _, c := range conditions {
		l = append(l, wrap("expect ", c), wrap("run until ", c), wrap("expect never ", c))
	}
	for _, e := range events {
		l = append(l, wrap("expect seen ", e), wrap("expect never ", e), wrap("run until seen ", e), wrap("run until next ", e))
	}
	return l
}

func TestEveryFormOfTheLanguageIsReadAndWrittenBack(t *testing.T) {
	for _, line := range lines() {
		line, want, changed := strings.Cut(line, " => ")
		if !changed {
			want = line
		}
		st, err := ParseLine(line, world())
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if have := Format(st); have != want {
			t.Errorf("%s is written as %s", line, have)
		}
		again, err := ParseLine(Format(st), world())
		if err != nil || !reflect.DeepEqual(st, again) {
			t.Errorf("%s is read again as %s, %v", line, Format(again), err)
		}
	}
}

// What the recorder writes down for a command must be the statement that does it.
func TestACommandIsWrittenLikeItsStatement(t *testing.T) {
	for _, line := range language {
		line, _, _ := strings.Cut(line, " => ")
		st, err := ParseLine(line, world())
		if err != nil {
			t.Fatal(err)
		}
		if cmd, ok := st.Command(); ok && cmd.String() != Format(st) {
			t.Errorf("the command of %s writes itself as %s", Format(st), cmd)
		}
	}
}

func TestSetupStatementsMakeTheConfig(t *testing.T) {
	s, err := Parse("x.lab", `
kafka 0.10
rule truncation one-round
seed 7
brokers 1 2 3 4, controller 4
topic topic1-0 on 1 2 3
set min.insync.replicas 2
set topic1 unclean.leader.election.enable false
producer P acks all to topic1-0
set P acks 1
run 5s
set min.insync.replicas 1`)
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Config{
		Line: "0.10", Rules: []cluster.RuleOverride{{Name: "truncation", Value: "one-round"}}, Seed: 7,
		Brokers: []protocol.Broker{1, 2, 3, 4}, Controller: 4,
		Settings:   []cluster.Set{{Key: "min.insync.replicas", Value: "2"}, {Topic: "topic1", Key: "unclean.leader.election.enable", Value: "false"}},
		Partitions: []cluster.AddPartition{{Partition: protocol.TopicPartition{Topic: "topic1", Index: 0}, Replicas: []protocol.Broker{1, 2, 3}}},
	}
	if !reflect.DeepEqual(s.Config, want) {
		t.Errorf("config is %+v", s.Config)
	}
	if s.Setup != 9 || len(s.Statements) != 11 {
		t.Errorf("%d of %d statements are setup", s.Setup, len(s.Statements))
	}
}

func TestBrokersComeFromTheAssignmentsWithoutABrokersLine(t *testing.T) {
	for source, want := range map[string][]protocol.Broker{
		"":                                   {1, 2, 3},
		"run 1s":                             {1, 2, 3},
		"topic a-0 on 5 2\ntopic a-1 on 2 4": {2, 4, 5},
		"topic a-0 on 5 2\nrun 1s\nstop broker 5": {2, 5},
	} {
		s, err := Parse("x.lab", source)
		if err != nil {
			t.Errorf("%q: %v", source, err)
		} else if !reflect.DeepEqual(s.Config.Brokers, want) {
			t.Errorf("%q has brokers %v", source, s.Config.Brokers)
		}
	}
}

func TestErrorsSayWhereWhatAndTheNearestWord(t *testing.T) {
	const setup = "brokers 1 2 3\ntopic topic1-0 on 1 2 3\nproducer P acks all to topic1-0\nreader R on topic1-0\n"
	for line, want := range map[string]string{
		`stp broker 1`:                             `5:1: expected a statement, not "stp"; the nearest valid word is "stop"`,
		`stop brokr 1`:                             `5:6: expected "stream" or "broker", not "brokr"; the nearest valid word is "broker"`,
		`stop broker`:                              `5:12: expected a broker's id, "1", "2" or "3", not the end of the line`,
		`stop broker 4`:                            `5:13: there is no broker 4, expected 1, 2 or 3; the nearest valid word is "1"`,
		`stop broker 1 1`:                          `5:15: broker 1 is named twice`,
		`stop broker 1 now`:                        `5:15: expected a broker's id or the end of the line, not "now"`,
		`expect brokr 2 is up`:                     `5:8: expected a condition, not "brokr"; the nearest valid word is "broker"`,
		`expect broker 2 is upp`:                   `5:20: expected "up", "down" or "frozen", not "upp"; the nearest valid word is "up"`,
		`expect S has read "D"`:                    `5:8: there is no reader S, expected R; the nearest valid word is "R"`,
		`expect P has read "D"`:                    `5:10: expected "got", not "has"`,
		`expect topic1-1 HW is 3`:                  `5:8: there is no partition topic1-1, expected topic1-0; the nearest valid word is "topic1-0"`,
		`expect topic1-0 HW is many`:               `5:23: expected a whole number, ">=" or "<=", not "many"; the nearest valid word is ">="`,
		`expect seen broker 3 stoped`:              `nearest valid word is "stopped"`,
		`expect P got error NOT_ENOUGH_REPLICA`:    `nearest valid word is "NOT_ENOUGH_REPLICAS"`,
		`set min.insync.replica 2`:                 `5:5: there is no configuration key min.insync.replica; the nearest valid word is "min.insync.replicas"`,
		`set min.insync.replicas two`:              `5:25: min.insync.replicas takes a whole number, not "two"`,
		`set P ack all`:                            `5:7: expected "acks", not "ack"; the nearest valid word is "acks"`,
		`set topic2 min.insync.replicas 2`:         `5:5: there is no topic topic2, expected topic1; the nearest valid word is "topic1"`,
		"run 1s\nset replica.lag.time.max.ms 5000": `6:5: replica.lag.time.max.ms is static`,
		"run 1s\nkafka 0.10":                       `6:1: "kafka" makes a new cluster`,
		"run 1s\nbrokers 1 2":                      `6:1: "brokers" makes a new cluster`,
		`kafka 0.12`:                               `5:7: there is no release line 0.12; the nearest valid word is "0.10"`,
		`rule truncation highwatermark`:            `5:17: rule truncation is one of high-watermark, one-round, iterative, fenced, nothing, not "highwatermark"`,
		`send P "A" "A"`:                           `5:8: the value "A" is sent twice`,
		"send P \"A\"\nsend P \"A\"":               `6:8: the value "A" is sent twice`,
		`send P "A`:                                `5:8: expected a closing "`,
		`send P ""`:                                `5:8: expected at least one character`,
		`send P 10001`:                             `5:8: expected a whole number from 1 to 10000`,
		`run 500`:                                  `5:5: expected a duration such as 500ms (units us ms s m) or "until", not "500"`,
		`run 25m0s`:                                `5:5: expected a duration`,
		`run 1441m`:                                `5:5: expected a duration of more than 0 and at most a day`,
		`step 1000001`:                             `5:6: expected a whole number from 1 to 1000000`,
		`expect lane all: record "a" is lost`:      `there is no lane all: this is one cluster, not a comparison`,
		`producer X acks 1 to topic1-0 retries 3 idempotent`:              `5:17: an idempotent producer takes acks all`,
		`producer X acks all to topic1-0 idempotent`:                      `5:33: an idempotent producer takes retries of 1 or more`,
		`producer X acks all to topic1-0 retries 3 inflight 6 idempotent`: `5:33: an idempotent producer takes inflight of at most 5`,
		`producer P acks all to topic1-0`:                                 `5:10: there is a client P already`,
		`producer run acks all to topic1-0`:                               `5:10: "run" is a word of the language and cannot be a name`,
		`producer X acks 2 to topic1-0`:                                   `5:17: expected "0", "1" or "all", not "2"; the nearest valid word is "0"`,
		`topic topic1-0 on 1 2 3`:                                         `5:7: there is a partition topic1-0 already`,
		`topic topic2-0 on 1 4`:                                           `5:19: there is no broker 4`,
		`rewind "x"`:                                                      `5:8: there is no mark x; none has been made yet`,
		`cut 1 - 1`:                                                       `5:9: a link is between two different nodes`,
		`cut 1 = 2`:                                                       `5:7: expected "-" or "->", not "="; the nearest valid word is "-"`,
		`cut 1 - X`:                                                       `5:9: there is no node X, expected 1, 2, 3, zookeeper, zk, P or R`,
		`expect not topic1-0 leader is not 2`:                             `not stands twice`,
		"expect topic1-0 HW is 3 and":                                     `5:28: expected a condition, not the end of the line`,
		"send P \"\x01\"":                                                 `5:8: the control character U+0001`,
		"send P \"\xff\"":                                                 `5:8: expected UTF-8 text`,
		"\xff":                                                            `5:1: expected UTF-8 text`,
		"stop\vbroker 1":                                                  `5:5: the character U+000B cannot stand here`,
		"send P \"" + strings.Repeat("x", 65) + `"`:                       `at most 64 characters`,
		"# " + strings.Repeat("x", 1000):                                  `a line has at most 1000 bytes`,
		`run until next topic1-0 HW is 3`:                                 `5:16: expected an event`,
	} {
		_, err := Parse("x.lab", setup+line)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n have %v\n want %s", line, err, want)
		}
	}
}

func TestLimitsOfAFile(t *testing.T) {
	if _, err := Parse("x.lab", strings.Repeat("#\n", MaxFileBytes/2+1)); err == nil || !strings.Contains(err.Error(), "1048576 bytes") {
		t.Error(err)
	}
	if _, err := Parse("x.lab", strings.Repeat("step\n", MaxStatements)); err != nil {
		t.Error(err)
	}
	if _, err := Parse("x.lab", strings.Repeat("step\n", MaxStatements+1)); err == nil || !strings.Contains(err.Error(), "x.lab:10001:1: a file has at most 10000 statements") {
		t.Error(err)
	}
}

func TestARewindTakesBackWhatWasMadeAfterTheMark(t *testing.T) {
	const start = "topic t-0 on 1 2\nproducer P acks 1 to t-0\nmark \"a\"\nsend P \"A\"\nproducer X acks 1 to t-0\nrewind \"a\"\n"
	for line, ok := range map[string]bool{
		`send P "A"`: true, `send X "B"`: false, `producer X acks 0 to t-0`: true, `rewind "a"`: true,
	} {
		if _, err := Parse("x.lab", start+line); (err == nil) != ok {
			t.Errorf("%s after the rewind: %v", line, err)
		}
	}
}

func TestWithoutAContextNamesAreNotLookedUp(t *testing.T) {
	st, err := ParseLine(`stop broker 9`, nil)
	if err != nil || Format(st) != `stop broker 9` {
		t.Error(st, err)
	}
}

func TestWhichStatementsDriveTime(t *testing.T) {
	for _, line := range language {
		line, _, _ := strings.Cut(line, " => ")
		st, err := ParseLine(line, world())
		if err != nil {
			t.Fatal(err)
		}
		drives := false
		for _, w := range []string{"run ", "settle", "step", "rewind "} {
			drives = drives || strings.HasPrefix(line, w)
		}
		if st.DrivesTime() != drives {
			t.Errorf("%s drives time: %v", line, st.DrivesTime())
		}
	}
}

func TestTheArticlesClusterIsRead(t *testing.T) {
	for _, line := range protocol.Lines() {
		s := ArticleConfig(line)
		if s.Config.Line != line || s.Config.Controller != 4 || len(s.Config.Partitions) != 2 || len(s.Statements) != 11 {
			t.Errorf("%+v", s.Config)
		}
		if cmd, _ := s.Statements[9].Command(); cmd != (cluster.Stream{Producer: "P", Every: 400 * sim.Millisecond}) {
			t.Errorf("%v", cmd)
		}
	}
}

func TestTheReferenceHasEveryFormAndADocumentation(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Reference() {
		if e.Form == "" || seen[e.Kind+e.Form] {
			t.Errorf("%+v", e)
		}
		seen[e.Kind+e.Form] = true
	}
	if !seen["statementstop broker <brokers>"] || !seen["condition<partition> leader is <broker>"] || !seen["event<some> halted"] {
		t.Error("forms are missing from the reference")
	}
}

// FuzzParse: reading never panics, errors lie inside of the line, and what is
// accepted is written so that it reads the same.
func FuzzParse(f *testing.F) {
	for _, line := range lines() {
		line, _, _ = strings.Cut(line, " => ")
		f.Add(line)
	}
	for _, line := range []string{`kafka 0.10`, `rule truncation fenced`, `seed 7`, `brokers 1 2 3 4, controller 4`, `drop next fetch 2 -> 1`, `send P "`, "#", `expect not not`, "\ufffd", `cut 1 -`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, ctx := range []*Context{world(), newContext(), nil} {
			st, err := ParseLine(line, ctx)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Column < 1 || e.Column > utf8.RuneCountInString(line)+1 || e.Message == "" {
					t.Fatalf("error %#v", err)
				}
				continue
			}
			written := Format(st)
			again, err := ParseLine(written, ctx)
			if len(written) > MaxLineBytes {
				continue // writing can lengthen: zk, 1000ms
			}
			if err != nil || !reflect.DeepEqual(st, again) {
				t.Fatalf("%q is written %q, read again as %q, %v", line, written, Format(again), err)
			}
		}
		s, err := Parse("x.lab", line)
		if err == nil && s == nil {
			t.Fatal("neither a script nor an error")
		}
	})
}

// The example of the language's description.
const lossExample = `# Two quick leader failures lose records that were acked by all, with no unclean election (KAFKA-1211).
kafka 0.10
brokers 1 2 3 4, controller 4
topic topic1-0 on 1 2 3
set min.insync.replicas 2
producer P acks all to topic1-0
send P "m1"
settle
send P "m2" "m3"
run until record "m3" is acked
expect HW of topic1-0 on 3 is 1
stop broker 1
run until seen broker 3 truncated topic1-0 to 1
hold 2 -> 3
stop broker 2
run until topic1-0 leader is 3
expect lost records of P is 2
expect never unclean election of topic1-0
expect log of topic1-0 on 3 is "m1"
`

func TestTheExampleIsRead(t *testing.T) {
	s, err := Parse("example.lab", lossExample)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Statements) != 18 {
		t.Errorf("%d statements", len(s.Statements))
	}
}

func Example_reference() {
	for _, e := range Reference()[:3] {
		fmt.Println(e.Kind, e.Form)
	}
	// Output:
	// statement kafka <line>
	// statement rule <rule> <choice>
	// statement seed <seed>
}
