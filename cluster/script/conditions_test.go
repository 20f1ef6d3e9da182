package script

import (
	"testing"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// made is a state made by hand: topic1-0 on 1 2 3, led by 1 in epoch 2 with the log
// "A" "B" "C" and HW 2; 2 has "A" "B", 3 is stopped with "A" and another "X" at 1.
func made() *view {
	n := &trace.Names{Partitions: &protocol.Catalog{}, Values: protocol.NewValues()}
	n.Nodes = []string{"zookeeper", "1", "2", "3", "P", "R"}
	tp := protocol.TopicPartition{Topic: "topic1", Index: 0}
	n.Partitions.Add(tp)
	record := func(value string, epoch protocol.Epoch) protocol.Record {
		return protocol.Record{Value: n.Values.Add(value), Epoch: epoch}
	}
	a, b, c, x := record("A", 1), record("B", 2), record("C", 2), record("X", 1)
	s := &trace.Snapshot{
		Time:       5 * sim.Second,
		Partitions: []trace.PartitionState{{Name: tp, Replicas: protocol.ReplicasOf(1, 2, 3)}},
		Brokers:    []trace.BrokerState{{ID: 1, Controller: true}, {ID: 2, State: trace.ProcessFrozen}, {ID: 3, State: trace.ProcessOff}},
		Replicas: []trace.ReplicaState{
			{Broker: 1, Role: trace.RoleLeader, Leader: 1, LeaderEpoch: 2, Records: []protocol.Record{a, b, c}, HW: 2, Flushed: 1},
			{Broker: 2, Role: trace.RoleFollower, Leader: 1, LeaderEpoch: 2, Records: []protocol.Record{a, b}, HW: 1},
			{Broker: 3, Records: []protocol.Record{a, x}, HW: 1},
		},
		Znodes: []trace.ZnodeState{
			{Path: "/brokers/topics/topic1/partitions/0/state", Data: `{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":2,"isr":[1,2]}`},
			{Path: "/controller", Data: `{"version":1,"brokerid":1,"timestamp":"0"}`},
			{Path: "/controller_epoch", Data: "3"},
		},
		Producers: []trace.ProducerState{{Node: 4, Acks: 1}},
		Readers:   []trace.ReaderState{{Node: 5, Position: 4, Read: []trace.ReadRecord{{Offset: 0, Value: a.Value}, {Offset: 0, Value: a.Value}}}},
		Records: []trace.RecordState{
			{Value: a.Value, Producer: 4, Fate: trace.Acked, Attempts: 1, SentAt: 1000, ToldAt: 201_000},
			{Value: b.Value, Producer: 4, Fate: trace.Sent, Attempts: 1, SentAt: 2000},
			{Value: c.Value, Producer: 4, Fate: trace.Failed, Error: protocol.RequestTimedOut, Attempts: 1},
			{Value: x.Value, Producer: 4, Fate: trace.Assumed, Attempts: 1},
		},
		Links: []trace.LinkState{{From: 1, To: 2, Cut: true}},
	}
	f := newFacts()
	f.readable[a.Value] = 151_000
	f.errors[clientError{4, protocol.RequestTimedOut}] = 1
	f.epochs[0] = 1
	rules, err := protocol.RulesOf("2.4")
	if err != nil {
		panic(err)
	}
	return &view{state: s, names: n, facts: f, settings: func() protocol.Settings { return protocol.NewSettings(&rules) }}
}

// ask answers a condition.
func ask(t *testing.T, v *view, text string) answer {
	t.Helper()
	st, err := ParseLine("expect "+text, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return evaluateAll(v, st.args[0].([]phrase))
}

func TestConditionsOverAState(t *testing.T) {
	for text, want := range map[string]bool{
		`broker 1 is up`: true, `broker 2 is frozen`: true, `broker 2 is up`: false, `broker 3 is down`: true, `brokers 1 2 are down`: false, `brokers 1 2 are not down`: true,
		`controller is 1`: true, `controller is 2`: false, `controller epoch is >= 2`: true, `controller epoch is <= 2`: false,
		`broker 1 believes it is controller`: true, `broker 2 believes it is not controller`: true,
		`broker 1 believes it leads topic1-0`: true, `broker 2 believes it leads topic1-0`: false,
		`topic1-0 leader is 1`: true, `topic1-0 leader is not 2`: true, `topic1-0 is offline`: false, `topic1-0 is not offline`: true,
		`topic1-0 ISR is 2 1`: true, `topic1-0 ISR is 1`: false, `topic1-0 ISR includes 2`: true, `topic1-0 ISR includes 2 3`: false, `topic1-0 ISR size is 2`: true,
		`topic1-0 is fully replicated`: false, `topic1-0 is under-replicated`: true,
		`topic1-0 HW is 2`: true, `HW of topic1-0 on 2 is 1`: true, `LEO of topic1-0 on 3 is 2`: true, `LEO of topic1-0 on 2 is behind by 1`: true, `LEO of topic1-0 on 2 is behind by >= 2`: false,
		`log of topic1-0 on 2 is "A" "B"`: true, `log of topic1-0 on 2 is "B" "A"`: false, `log of topic1-0 on 2 is "A"`: false, `log of topic1-0 on 2 is empty`: false,
		`leader epoch of topic1-0 is 2`: true, `leader epoch of topic1-0 rose`: true,
		`logs of topic1-0 are identical`:     true, // 3 is not live
		`logs of topic1-0 diverge at 1`:      false,
		`record "A" of topic1-0 is on 1 2 3`: true, `record "A" of topic1-0 is on 1 2`: false, `record "A" of topic1-0 is at least on 1 2`: true,
		`record "C" of topic1-0 is not on 2 3`: true, `record "A" of topic1-0 is not on 1`: false, `not record "A" of topic1-0 is on 1`: true,
		`record "Z" of topic1-0 is on no broker`: true, `record "X" of topic1-0 is on 3`: true,
		`record "B" of topic1-0 is committed`: true, `record "C" of topic1-0 is committed`: false, `record "X" of topic1-0 is not committed`: true,
		`record "A" of topic1-0 is on disk of 1`: true, `record "B" of topic1-0 is on disk of 1`: false, `record "C" of topic1-0 is on disk of 2`: false,
		`record "B" of topic1-0 appears 1 times`:  true,
		`record "A" of topic1-0 on 2 has epoch 1`: true, `record "A" of topic1-0 on 1 has epoch 0`: false, `record "Z" of topic1-0 on 1 has epoch 0`: false,
		`record "A" is acked`: true, `record "B" is unanswered`: true, `record "B" is not acked`: true, `record "C" is failed`: true, `record "X" is acked`: false, `record "X" is unanswered`: true, `record "Z" is unanswered`: false,
		`record "A" is lost`: false, `record "X" is lost`: true, `record "C" is not lost`: true,
		`acked records of P is 1`: true, `lost records of P is 1`: true, `duplicates of P is 0`: true, `out of order records of P is 0`: true,
		`P got error REQUEST_TIMED_OUT`: true, `P got error NOT_ENOUGH_REPLICAS`: false, `P got an error`: true, `R got an error`: false,
		`R has read "A"`: true, `R has read "A" "B"`: false, `R has read 2 records`: true, `R has read 3 records`: false, `R position is 4`: true, `R position is above the end of topic1-0`: true, `R read a record twice`: true, `R position went down`: false,
		`setting P acks is 1`: true, `setting min.insync.replicas is 1`: true, `setting topic1 min.insync.replicas is 2`: false,
		`link 1 -> 2 is cut`: true, `link 2 -> 1 is cut`: false, `link 1 - 2 is cut`: false, `zookeeper is unreachable`: false,
		`told delay of "A" is under 201ms`: true, `told delay of "A" is over 199ms`: true, `readable delay of "A" is <= 150ms`: true, `told delay of P is >= 200ms`: true, `told delay max of P is under 100ms`: false,
		`told delay of "A" equals told delay of "A"`: true,
		`topic1-0 leader is 1 and topic1-0 HW is 2`:  true, `topic1-0 leader is 1 and topic1-0 HW is 3`: false,
	} {
		a := ask(t, made(), text)
		if a.truth == undefined || (a.truth == yes) != want {
			t.Errorf("%s: %v, %s", text, a.truth, a.fact)
		}
	}
}

// While there is no acting leader, what needs one is false, and so is its not form.
func TestWithoutAnActingLeaderNeitherAConditionNorItsOppositeIsTrue(t *testing.T) {
	state := func(v *view, data string) *view {
		v.state.Znodes[0].Data = data
		return v
	}
	down := made()
	down.state.Brokers[0].State = trace.ProcessDown
	zombie := state(made(), `{"leader":1,"leader_epoch":3,"isr":[1,2]}`)
	offline := state(made(), `{"leader":-1,"leader_epoch":3,"isr":[1]}`)
	other := state(made(), `{"leader":2,"leader_epoch":2,"isr":[1,2]}`)
	for name, v := range map[string]*view{"down": down, "zombie": zombie, "offline": offline, "another is named": other} {
		for _, c := range []string{
			`topic1-0 leader is 1`, `topic1-0 HW is 2`, `LEO of topic1-0 on 2 is behind by 1`, `record "A" of topic1-0 is committed`,
			`record "A" of topic1-0 appears 1 times`, `record "X" is lost`, `lost records of P is 1`, `lost records of P is >= 0`, `duplicates of P is 0`, `out of order records of P is 0`,
			`R position is above the end of topic1-0`,
		} {
			for _, not := range []string{"", "not "} {
				if a := ask(t, v, not+c); a.truth != undefined || a.fact == "" {
					t.Errorf("%s: %s%s is %v, %s", name, not, c, a.truth, a.fact)
				}
			}
		}
	}
	if a := ask(t, offline, `topic1-0 is offline`); a.truth != yes {
		t.Error(a.fact)
	}
	if a := ask(t, offline, `leader epoch of topic1-0 is 3`); a.truth != yes {
		t.Error(a.fact)
	}
}

// A broker that is assigned a replica and has no log has an empty one; one that is not
// has none.
func TestABrokerWithoutALog(t *testing.T) {
	v := made()
	v.state.Replicas = v.state.Replicas[:2]
	for text, want := range map[string]truth{
		`LEO of topic1-0 on 3 is 0`: yes, `HW of topic1-0 on 3 is 0`: yes, `log of topic1-0 on 3 is empty`: yes, `record "X" of topic1-0 is on no broker`: yes,
		`LEO of topic1-0 on 4 is 0`: undefined, `not LEO of topic1-0 on 4 is 0`: undefined,
	} {
		if a := ask(t, v, text); a.truth != want {
			t.Errorf("%s: %v, %s", text, a.truth, a.fact)
		}
	}
}

func TestDivergenceOfLiveLogs(t *testing.T) {
	v := made()
	v.state.Brokers[2].State = trace.ProcessUp
	for text, want := range map[string]truth{`logs of topic1-0 are identical`: no, `logs of topic1-0 diverge at 1`: yes, `logs of topic1-0 diverge at 0`: no} {
		if a := ask(t, v, text); a.truth != want {
			t.Errorf("%s: %v, %s", text, a.truth, a.fact)
		}
	}
}

func TestCountsOfALog(t *testing.T) {
	v := made()
	log := &v.state.Replicas[0].Records
	a, b, c := (*log)[0], (*log)[1], (*log)[2]
	*log = []protocol.Record{b, a, b, c, a, a}
	for text, want := range map[string]truth{
		`duplicates of P is 3`: yes, `out of order records of P is 1`: yes, `record "A" of topic1-0 appears 3 times`: yes,
	} {
		if x := ask(t, v, text); x.truth != want {
			t.Errorf("%s: %v, %s", text, x.truth, x.fact)
		}
	}
}

func TestAvailabilityCountsWindowsOfASecond(t *testing.T) {
	v := made()
	v.state.Producers[0].Every = sim.Second
	v.state.Time = 10*sim.Second + 500*sim.Millisecond
	v.state.Records[0].QueuedAt = 0
	for i := range 10 {
		if i != 4 {
			v.facts.acks[4] = append(v.facts.acks[4], sim.Time(i)*sim.Second+1)
		}
	}
	for text, want := range map[string]truth{`writes of P available >= 90%`: yes, `writes of P available 90%`: yes, `writes of P available >= 91%`: no} {
		if a := ask(t, v, text); a.truth != want {
			t.Errorf("%s: %v, %s", text, a.truth, a.fact)
		}
	}
}

// What is the case is said in words for someone who expected something else.
func TestFacts(t *testing.T) {
	for text, want := range map[string]string{
		`topic1-0 HW is 3`:                     `topic1-0 HW is 2`,
		`topic1-0 leader is 2`:                 `topic1-0 leader is 1`,
		`topic1-0 ISR is 1 2 3`:                `topic1-0 ISR is 1 2`,
		`record "C" of topic1-0 is committed`:  `record "C" is at 2, topic1-0 HW is 2`,
		`record "C" of topic1-0 is on 1 2`:     `record "C" of topic1-0 is on 1`,
		`record "Z" of topic1-0 is on 1`:       `record "Z" of topic1-0 is on no broker`,
		`record "C" is acked`:                  `record "C" is failed with REQUEST_TIMED_OUT`,
		`record "Z" is acked`:                  `record "Z" has not been sent`,
		`lost records of P is 0`:               `lost records of P is 1: "X"`,
		`log of topic1-0 on 2 is "A"`:          `log of topic1-0 on 2 is "A" "B"`,
		`P got error NOT_ENOUGH_REPLICAS`:      `P got REQUEST_TIMED_OUT`,
		`link 1 - 2 is cut`:                    `only 1 -> 2 is cut`,
		`told delay of "B" is under 1s`:        `record "B" is sent and unanswered`,
		`readable delay of "B" is under 200ms`: `no acting leader's HW has passed record "B"`,
		`broker 1 is up and broker 3 is up`:    `broker 3 is down`,
	} {
		if a := ask(t, made(), text); a.truth == yes || a.fact != want {
			t.Errorf("%s: %v, %s", text, a.truth, a.fact)
		}
	}
}

func TestEveryKindOfEventHasASentence(t *testing.T) {
	n := made().names
	for _, k := range trace.Kinds() {
		if s := Sentence(&trace.Event{Kind: k, Node: 1, Peer: 2}, n); s == "" {
			t.Errorf("%s has none", k)
		}
	}
}
