package static_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tidemark/cluster"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// The tests of the page run on what the Go core wrote: runs of real clusters, event
// by event, with the snapshot that Go has at points on the way. The page's model has
// to come to the same state.

// writeFixtures runs clusters and writes, for each, NAME.events.jsonl and
// NAME.snapshots.jsonl, and kinds.json with every kind of event there is.
func writeFixtures(t *testing.T, dir string) {
	t.Helper()
	for name, run := range scenarios() {
		writeRun(t, dir, name, run)
	}
	type kind struct {
		Name  string `json:"name"`
		Quiet bool   `json:"quiet"`
	}
	var kinds []kind
	for _, k := range trace.Kinds() {
		kinds = append(kinds, kind{k.String(), k.Quiet()})
	}
	data, err := json.Marshal(kinds)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kinds.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// act is a command and the virtual time that passes after it.
type act struct {
	command cluster.Command // nil: only time passes
	after   sim.Time
}

// play is a run of the article's cluster.
type play struct {
	line protocol.Line
	acts []act
}

const ms = sim.Millisecond

func partition(i int) protocol.TopicPartition {
	return protocol.TopicPartition{Topic: "topic1", Index: i}
}

func ids(l ...protocol.Broker) []protocol.Broker { return l }

// article is the cluster of the article's picture, without its clients.
func article(line protocol.Line, seed uint64) cluster.Config {
	return cluster.Config{
		Line: line, Seed: seed, Brokers: ids(1, 2, 3, 4), Controller: 4,
		Settings: []cluster.Set{{Key: "unclean.leader.election.enable", Value: "false"}},
		Partitions: []cluster.AddPartition{
			{Partition: partition(0), Replicas: ids(1, 2, 3)},
			{Partition: partition(1), Replicas: ids(4, 2, 3)},
		},
	}
}

// clients are made at time 0.
func clients() []cluster.Command {
	producer := cluster.AddProducer{Timeout: cluster.DefaultTimeout, Inflight: cluster.DefaultInflight}
	p, q := producer, producer
	p.Name, p.Acks, p.Partition = "P", protocol.AcksAll, partition(0)
	q.Name, q.Acks, q.Partition, q.Retries = "Q", 1, partition(1), 2
	return []cluster.Command{
		p, cluster.AddReader{Name: "R", Partition: partition(0), From: protocol.NoOffset, Reset: "latest"},
		q, cluster.AddReader{Name: "S", Partition: partition(1), From: protocol.NoOffset, Reset: "earliest"},
		cluster.Stream{Producer: "P", Every: 400 * ms}, cluster.Stream{Producer: "Q", Every: 700 * ms},
	}
}

func scenarios() map[string]play {
	stop := func(l ...protocol.Broker) cluster.Command { return cluster.StopBrokers{Brokers: l} }
	start := func(l ...protocol.Broker) cluster.Command { return cluster.StartBrokers{Brokers: l} }
	send := func(n int) cluster.Command { return cluster.SendNumbered{Producer: "P", Count: n} }
	link := func(from, to string) cluster.Link { return cluster.Link{From: from, To: to} }
	both := func(from, to string) cluster.Link { return cluster.Link{From: from, To: to, Both: true} }
	quiet := []act{{cluster.StopStream{Producer: "P"}, 0}, {cluster.StopStream{Producer: "Q"}, 1500 * ms}}
	m := map[string]play{
		"idle": {"0.10", append(slices.Clone(quiet), act{send(2), 2000 * ms})},
		// Acked records are lost: the followers had not fetched them.
		"lost": {"0.10", append(slices.Clone(quiet),
			act{cluster.HoldFetches{Brokers: ids(2, 3)}, 0}, act{cluster.SetAcks{Producer: "P", Acks: 1}, 0}, act{send(5), 300 * ms},
			act{stop(1), 0}, act{cluster.ReleaseFetches{Brokers: ids(2, 3)}, 8000 * ms},
			act{send(3), 1000 * ms}, act{start(1), 9000 * ms})},
		"failover": {"2.4", []act{
			{nil, 1000 * ms}, {stop(4), 7500 * ms}, {start(4), 7000 * ms},
			{cluster.ShutDownBrokers{Brokers: ids(1)}, 3000 * ms}, {start(1), 7000 * ms}, {cluster.ElectPreferred{Partition: partition(0)}, 1000 * ms},
		}},
		"power": {"0.10", []act{
			{nil, 900 * ms}, {cluster.PowerOff{Brokers: ids(1, 2, 3), Keep: -1}, 8000 * ms}, {cluster.Wipe{Broker: 3, CheckpointOnly: true}, 0}, {start(3), 100 * ms},
			{start(2, 1), 9000 * ms}, {stop(3), 100 * ms}, {cluster.Wipe{Broker: 3}, 10 * ms}, {start(3), 9000 * ms},
		}},
		"links": {"2.4", []act{
			{cluster.Cut{Link: both("1", "zookeeper")}, 300 * ms}, {cluster.Cut{Link: link("P", "1")}, 200 * ms}, {cluster.Slow{Link: link("2", "4"), By: 300 * ms}, 200 * ms},
			{cluster.Hold{Link: link("1", "3")}, 700 * ms}, {cluster.Freeze{Brokers: ids(2)}, 7000 * ms}, {cluster.Thaw{Brokers: ids(2)}, 500 * ms},
			{cluster.Release{Link: link("1", "3")}, 100 * ms}, {cluster.Heal{}, 300 * ms}, {cluster.Slow{Link: link("2", "4")}, 0},
			{cluster.Isolate{Broker: 3}, 9000 * ms}, {cluster.Heal{}, 4000 * ms},
		}},
	}
	// An idempotent producer whose answer is lost, and one that leaves a gap; a commit.
	i := cluster.AddProducer{Name: "I", Acks: protocol.AcksAll, Partition: partition(0), Retries: 1, Timeout: 2000 * ms, Inflight: 5, Idempotent: true}
	toI := func(values ...string) cluster.Command { return cluster.Send{Producer: "I", Values: values} }
	m["idempotent"] = play{"2.4", append(slices.Clone(quiet),
		act{i, 1000 * ms}, act{toI("a"), 1000 * ms}, act{toI("b"), 60 * ms}, act{cluster.Cut{Link: both("I", "1")}, 500 * ms}, act{cluster.Heal{}, 4000 * ms},
		act{cluster.Commit{Reader: "R"}, 0}, act{cluster.Cut{Link: both("I", "1")}, 0}, act{toI("c"), 9000 * ms}, act{cluster.Heal{}, 0},
		act{toI("d"), 2000 * ms}, act{toI("e"), 2000 * ms})}
	for seed := range uint64(14) {
		lines := protocol.Lines()
		m[fmt.Sprintf("random%02d", seed)] = play{lines[seed%uint64(len(lines))], randomActs(seed)}
	}
	return m
}

// randomActs is what a person with no plan might do. Commands that cannot be done
// are refused and change nothing.
func randomActs(seed uint64) []act {
	r := rand.New(rand.NewPCG(seed, 7))
	b := func() []protocol.Broker { return ids(protocol.Broker(1 + r.IntN(4))) }
	nodes := []string{"1", "2", "3", "4", "zookeeper", "P", "R"}
	link := func() cluster.Link {
		return cluster.Link{From: nodes[r.IntN(len(nodes))], To: nodes[r.IntN(len(nodes))], Both: r.IntN(2) == 0}
	}
	forms := []func() cluster.Command{
		func() cluster.Command { return cluster.StopBrokers{Brokers: b()} },
		func() cluster.Command { return cluster.StartBrokers{Brokers: b()} },
		func() cluster.Command { return cluster.StartBrokers{Brokers: b()} },
		func() cluster.Command { return cluster.ShutDownBrokers{Brokers: b()} },
		func() cluster.Command { return cluster.PowerOff{Brokers: b(), Keep: -1} },
		func() cluster.Command { return cluster.Freeze{Brokers: b()} },
		func() cluster.Command { return cluster.Thaw{Brokers: b()} },
		func() cluster.Command { return cluster.Thaw{Brokers: b()} },
		func() cluster.Command { return cluster.Cut{Link: link()} },
		func() cluster.Command { return cluster.Heal{} },
		func() cluster.Command { return cluster.Slow{Link: link(), By: sim.Time(r.IntN(3)) * 300 * ms} },
		func() cluster.Command { return cluster.Hold{Link: link()} },
		func() cluster.Command {
			return cluster.DropNext{Class: protocol.DropClass(1 + r.IntN(3)), Link: link()}
		},
		func() cluster.Command { return cluster.ElectUnclean{Partition: partition(r.IntN(2))} },
		func() cluster.Command {
			to := ids(1, 2, 3, 4)
			r.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
			return cluster.Reassign{Partition: partition(r.IntN(2)), Replicas: to[:1+r.IntN(4)]}
		},
		func() cluster.Command {
			return cluster.Trim{Partition: partition(r.IntN(2)), To: protocol.Offset(r.IntN(60))}
		},
		func() cluster.Command { return cluster.SlowDisk{Broker: b()[0], By: sim.Time(r.IntN(3)) * 300 * ms} },
		func() cluster.Command { return cluster.Release{Link: link()} },
		func() cluster.Command { return cluster.HoldFetches{Brokers: b()} },
		func() cluster.Command { return cluster.ReleaseFetches{Brokers: b()} },
		func() cluster.Command { return cluster.HoldControl{Brokers: b()} },
		func() cluster.Command { return cluster.ReleaseControl{Brokers: b()} },
		func() cluster.Command { return cluster.ExpireSession{Brokers: b()} },
		func() cluster.Command { return cluster.Wipe{Broker: b()[0]} },
		func() cluster.Command { return cluster.Flush{Brokers: b()} },
		func() cluster.Command { return cluster.Checkpoint{Brokers: b()} },
		func() cluster.Command { return cluster.SendNumbered{Producer: "P", Count: 1 + r.IntN(4)} },
		func() cluster.Command { return cluster.SetAcks{Producer: "P", Acks: int8(r.IntN(3) - 1)} },
		func() cluster.Command { return cluster.Seek{Reader: "R", Offset: 0} },
		func() cluster.Command { return cluster.ElectPreferred{Partition: partition(0)} },
	}
	acts := make([]act, 60)
	for i := range acts {
		acts[i] = act{forms[r.IntN(len(forms))](), sim.Time(r.IntN(2500)) * ms}
	}
	return acts
}

func writeRun(t *testing.T, dir, name string, p play) {
	t.Helper()
	var events []trace.Event
	c, err := cluster.New(article(p.line, 1), func(e *trace.Event) { events = append(events, *e) })
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, command := range clients() {
		if _, err := c.Do(command); err != nil {
			t.Fatalf("%s: %s: %v", name, command, err)
		}
	}
	snapshots := create(t, filepath.Join(dir, name+".snapshots.jsonl"))
	snapshot := func() {
		x := c.Snapshot()
		fmt.Fprintf(snapshots, `{"snapshot":%s,"lost":%s}`+"\n", x.AppendJSON(nil, c.Names()), lost(t, x, c.Names()))
	}
	snapshot()
	for _, a := range p.acts {
		if a.command != nil {
			c.Do(a.command) // it may be refused
			snapshot()
		}
		c.RunUntil(c.Now() + a.after)
		snapshot()
	}
	if err := snapshots.close(); err != nil {
		t.Fatal(err)
	}
	out := create(t, filepath.Join(dir, name+".events.jsonl"))
	var line []byte
	for i := range events {
		line = append(events[i].AppendJSON(line[:0], c.Names()), '\n')
		out.Write(line)
	}
	if err := out.close(); err != nil {
		t.Fatal(err)
	}
}

// lost lists the records that a producer was told success for, that are not under
// way, and that the acting leader of their partition does not have.
func lost(t *testing.T, s *trace.Snapshot, n *trace.Names) []byte {
	t.Helper()
	underWay := map[string]bool{}
	for _, m := range s.Messages {
		var d protocol.Description
		m.Body.Describe(&d)
		if d.Kind != protocol.KindProduce {
			continue
		}
		for _, p := range d.Partitions {
			for _, r := range p.Records {
				underWay[n.Values.Text(r.Value)] = true
			}
		}
	}
	values := []string{}
	for i := range s.Records {
		r := &s.Records[i]
		z := s.Znode(coord.StatePath(n.Partitions.Name(r.Partition)))
		if z == nil || (r.Fate != trace.Acked && r.Fate != trace.Assumed) {
			continue
		}
		state, err := coord.DecodeState(z.Data)
		if err != nil {
			t.Fatal(err)
		}
		leader := sim.NodeID(state.Leader)
		if state.Leader == protocol.NoBroker || s.Broker(leader).State != trace.ProcessUp {
			continue
		}
		log := s.Replica(leader, r.Partition)
		if log == nil || log.Role != trace.RoleLeader || log.LeaderEpoch != state.LeaderEpoch || underWay[n.Values.Text(r.Value)] {
			continue
		}
		if !slices.ContainsFunc(log.Records, func(x protocol.Record) bool { return x.Value == r.Value }) {
			values = append(values, n.Values.Text(r.Value))
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type output struct {
	*bufio.Writer
	f *os.File
}

func create(t *testing.T, path string) *output {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return &output{bufio.NewWriter(f), f}
}

func (o *output) close() error {
	if err := o.Flush(); err != nil {
		return err
	}
	return o.f.Close()
}
