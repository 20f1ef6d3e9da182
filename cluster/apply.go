package cluster

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"tidemark/cluster/broker"
	"tidemark/cluster/client"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// This file has what each command does. A check says why a command cannot be executed
// now; apply executes one that passed.

// MaxValueRunes bounds a record's value.
const MaxValueRunes = 64

// MaxRecords bounds the records of a run and of one command.
const MaxRecords = 100_000

func (x AddPartition) check(c *Cluster) error {
	if c.names.Partitions.Len() >= protocol.MaxPartitions {
		return fmt.Errorf("cluster: %d partitions is the most there can be", protocol.MaxPartitions)
	}
	if c.names.Partitions.Find(x.Partition) != protocol.NoPartition {
		return fmt.Errorf("cluster: partition %s is there already", x.Partition)
	}
	if len(x.Replicas) == 0 {
		return fmt.Errorf("cluster: partition %s has no replicas", x.Partition)
	}
	for i, b := range x.Replicas {
		if !c.shared.Brokers.Has(b) {
			return c.noBroker(b)
		}
		if slices.Contains(x.Replicas[:i], b) {
			return fmt.Errorf("cluster: broker %d is assigned twice", b)
		}
	}
	return nil
}

func (x AddPartition) apply(c *Cluster) {
	p := c.names.Partitions.Add(x.Partition)
	mine := protocol.ReplicasOf(x.Replicas...)
	c.recorder.Emit(trace.Event{Kind: trace.PartitionAdded, Partition: p, Replicas: mine, Path: x.Partition.Topic, Offset: protocol.Offset(x.Partition.Index)})
	var parts []protocol.TopicPartition
	var replicas []protocol.Replicas
	for i := range c.names.Partitions.Len() {
		tp := c.names.Partitions.Name(protocol.Partition(i))
		if protocol.Partition(i) == p {
			parts, replicas = append(parts, tp), append(replicas, mine)
		} else if tp.Topic == x.Partition.Topic {
			parts, replicas = append(parts, tp), append(replicas, c.zookeeper.Assignment(protocol.Partition(i)))
		}
	}
	op := coord.Op{Kind: coord.Create, Path: coord.TopicPath(x.Partition.Topic), Data: coord.EncodeAssignment(parts, replicas)}
	if c.zookeeper.Exists(op.Path) {
		op.Kind, op.Version = coord.SetData, coord.AnyVersion
	}
	c.sched.Tell(coord.NodeID, coord.Admin{Op: op})
}

// addClient checks a name and gives it a node.
func (c *Cluster) checkClient(name string, tp protocol.TopicPartition) error {
	switch {
	case len(c.clients) >= MaxClients:
		return fmt.Errorf("cluster: %d producers and readers are the most there can be", MaxClients)
	case name == "zookeeper" || name == "zk" || slices.Contains(c.names.Nodes, name):
		return fmt.Errorf("cluster: the name %s is taken", name)
	}
	return c.checkPartition(tp)
}

func (c *Cluster) addClient(name string, n sim.Node) sim.NodeID {
	id := firstClient + sim.NodeID(len(c.clients))
	c.names.Nodes = append(c.names.Nodes, name)
	c.clients = append(c.clients, n)
	c.sched.Add(id, n)
	return id
}

func (c *Cluster) checkPartition(tp protocol.TopicPartition) error {
	if c.names.Partitions.Find(tp) == protocol.NoPartition {
		return fmt.Errorf("cluster: there is no partition %s", tp)
	}
	return nil
}

func (x AddProducer) check(c *Cluster) error {
	switch {
	case x.Acks < -1 || x.Acks > 1:
		return fmt.Errorf("cluster: acks is 0, 1 or all")
	case x.Retries < 0 || x.Inflight < 1 || x.Timeout <= 0:
		return fmt.Errorf("cluster: retries is at least 0, inflight at least 1, timeout more than 0")
	}
	if err := x.checkIdempotence(&c.rules); err != nil {
		return err
	}
	return c.checkClient(x.Name, x.Partition)
}

// checkIdempotence says why a producer cannot be idempotent with its options.
// Kafka: KafkaProducer.configureAcks, configureRetries, configureInflightRequests.
func (x AddProducer) checkIdempotence(r *protocol.Rules) error {
	switch {
	case !x.Idempotent:
	case r.Idempotence == protocol.IdempotenceNone:
		return fmt.Errorf("cluster: there are no idempotent producers here (line %s, rule idempotence off); Kafka has them from line 0.11 on", r.Line)
	case x.Acks != protocol.AcksAll:
		return fmt.Errorf("cluster: an idempotent producer has acks all")
	case x.Retries < 1:
		return fmt.Errorf("cluster: an idempotent producer has retries, at least 1")
	case x.Inflight > MaxIdempotentInflight:
		return fmt.Errorf("cluster: an idempotent producer has inflight %d at most", MaxIdempotentInflight)
	}
	return nil
}

func (x AddProducer) apply(c *Cluster) {
	p := c.names.Partitions.Find(x.Partition)
	inflight := x.Inflight
	if x.Idempotent {
		// Differs: Kafka 0.11 refuses an idempotent producer more than one request under way,
		// and here it has one whatever its inflight.
		inflight = min(inflight, c.rules.Idempotence.Kept())
	}
	id := c.addClient(x.Name, client.NewProducer(client.ProducerOptions{
		Nth: len(c.clients), Name: x.Name, Partition: p, Acks: x.Acks, Retries: x.Retries, Timeout: x.Timeout, Inflight: inflight, Idempotent: x.Idempotent}, c.shared))
	how := trace.HowNone
	if x.Idempotent {
		how = trace.Idempotent
	}
	c.recorder.Emit(trace.Event{Kind: trace.ProducerAdded, Node: id, Partition: p, Acks: x.Acks, How: how})
}

func (x AddReader) check(c *Cluster) error {
	if x.Reset != "earliest" && x.Reset != "latest" && x.Reset != "none" {
		return fmt.Errorf("cluster: reset is earliest, latest or none, not %q", x.Reset)
	}
	return c.checkClient(x.Name, x.Partition)
}

func (x AddReader) apply(c *Cluster) {
	p := c.names.Partitions.Find(x.Partition)
	how := trace.Automatic
	if x.Manual {
		how = trace.Manual
	}
	id := c.addClient(x.Name, client.NewReader(client.ReaderOptions{Nth: len(c.clients), Partition: p, From: x.From, Reset: x.Reset, Manual: x.Manual}, c.shared))
	c.recorder.Emit(trace.Event{Kind: trace.ReaderAdded, Node: id, Partition: p, Offset: max(x.From, 0), How: how})
}

func (x Set) check(c *Cluster) error {
	k, ok := protocol.FindSetting(x.Key)
	if ok && k.Static {
		return fmt.Errorf("cluster: %s is a static setting: it is read when a broker starts and cannot change while the cluster runs; set it before time starts", x.Key)
	}
	if x.Topic != "" && !slices.ContainsFunc(c.topics(), func(t string) bool { return t == x.Topic }) {
		return fmt.Errorf("cluster: there is no topic %s", x.Topic)
	}
	return c.settings.Clone().Set(x.Topic, x.Key, x.Value)
}

// Differs: a setting that changes is in force everywhere at once. Kafka's travel through
// /config/changes, and each broker hears of them in its own time.
func (x Set) apply(c *Cluster) {
	if err := c.settings.Set(x.Topic, x.Key, x.Value); err != nil {
		panic(err)
	}
	path := x.Key
	if x.Topic != "" {
		path = x.Topic + " " + x.Key
	}
	c.recorder.Emit(trace.Event{Kind: trace.SettingChanged, Path: path, Text: x.Value})
	c.applyNetwork()
	if x.Key == "unclean.leader.election.enable" && x.Value == "true" && c.rules.UncleanEnablingElects {
		if b, err := c.controller(); err == nil {
			c.sched.Tell(sim.NodeID(b), broker.UncleanEnabled{Topic: x.Topic})
		}
	}
}

func (c *Cluster) topics() []string {
	var l []string
	for p := range c.names.Partitions.Len() {
		l = append(l, c.names.Partitions.Name(protocol.Partition(p)).Topic)
	}
	return l
}

// producer finds a producer by name.
func (c *Cluster) producer(name string) (sim.NodeID, *client.Producer, error) {
	if id, ok := c.Node(name); ok && id >= firstClient {
		if p, ok := c.clients[id-firstClient].(*client.Producer); ok {
			return id, p, nil
		}
	}
	return 0, nil, fmt.Errorf("cluster: there is no producer %s", name)
}

func (c *Cluster) checkReader(name string) error {
	if id, ok := c.Node(name); ok && id >= firstClient {
		if _, ok := c.clients[id-firstClient].(*client.Reader); ok {
			return nil
		}
	}
	return fmt.Errorf("cluster: there is no reader %s", name)
}

// tell hands a command to a node that was checked to be there.
func (c *Cluster) tell(name string, command any) {
	id, _ := c.Node(name)
	c.sched.Tell(id, command)
}

func (x SetAcks) check(c *Cluster) error {
	if x.Acks < -1 || x.Acks > 1 {
		return fmt.Errorf("cluster: acks is 0, 1 or all")
	}
	_, p, err := c.producer(x.Producer)
	if err == nil && p.IsIdempotent() && x.Acks != protocol.AcksAll {
		return fmt.Errorf("cluster: producer %s is idempotent, which takes acks all", x.Producer)
	}
	return err
}
func (x SetAcks) apply(c *Cluster) { c.tell(x.Producer, client.SetAcks{Acks: x.Acks}) }

func (x Send) check(c *Cluster) error {
	if _, _, err := c.producer(x.Producer); err != nil {
		return err
	}
	if len(x.Values) == 0 {
		return fmt.Errorf("cluster: nothing to send")
	}
	for i, v := range x.Values {
		if _, used := c.names.Values.Find(v); used || slices.Contains(x.Values[:i], v) {
			return fmt.Errorf("cluster: the value %q was sent already; values are unique in a run", v)
		}
		if n := utf8.RuneCountInString(v); n == 0 || n > MaxValueRunes || !utf8.ValidString(v) {
			return fmt.Errorf("cluster: a value has 1 to %d characters", MaxValueRunes)
		}
	}
	return c.checkRecords(len(x.Values))
}

func (c *Cluster) checkRecords(n int) error {
	if len(c.ledger.Records)+n > MaxRecords {
		return fmt.Errorf("cluster: a run has %d records at most", MaxRecords)
	}
	return nil
}

func (x Send) apply(c *Cluster) {
	var all []protocol.Value
	for _, v := range x.Values {
		all = append(all, c.names.Values.Add(v))
	}
	batches := [][]protocol.Value{all}
	if !x.Batch {
		batches = nil
		for i := range all {
			batches = append(batches, all[i:i+1:i+1])
		}
	}
	c.tell(x.Producer, client.Send{Batches: batches})
}

func (x SendNumbered) check(c *Cluster) error {
	if x.Count < 1 {
		return fmt.Errorf("cluster: a number of records is at least 1")
	}
	if _, _, err := c.producer(x.Producer); err != nil {
		return err
	}
	return c.checkRecords(x.Count)
}
func (x SendNumbered) apply(c *Cluster) { c.tell(x.Producer, client.SendNumbered{Count: x.Count}) }

func (x Stream) check(c *Cluster) error {
	if x.Every < sim.Millisecond {
		return fmt.Errorf("cluster: a stream sends at most every 1ms")
	}
	_, _, err := c.producer(x.Producer)
	return err
}
func (x Stream) apply(c *Cluster) { c.tell(x.Producer, client.Stream{Every: x.Every}) }

func (x StopStream) check(c *Cluster) error {
	_, p, err := c.producer(x.Producer)
	if err == nil && !p.Streaming() {
		return fmt.Errorf("cluster: producer %s has no stream", x.Producer)
	}
	return err
}
func (x StopStream) apply(c *Cluster) { c.tell(x.Producer, client.Stream{}) }

func (x Poll) check(c *Cluster) error { return c.checkReader(x.Reader) }
func (x Poll) apply(c *Cluster)       { c.tell(x.Reader, client.Poll{}) }

func (x Seek) check(c *Cluster) error {
	if x.Offset < 0 {
		return fmt.Errorf("cluster: an offset is at least 0")
	}
	return c.checkReader(x.Reader)
}
func (x Seek) apply(c *Cluster) { c.tell(x.Reader, client.Seek{Offset: x.Offset}) }

func (x Commit) check(c *Cluster) error { return c.checkReader(x.Reader) }
func (x Commit) apply(c *Cluster)       { c.tell(x.Reader, client.Commit{}) }

func (c *Cluster) noBroker(b protocol.Broker) error {
	return fmt.Errorf("cluster: there is no broker %d; there are %s", b, c.shared.Brokers)
}

var statusNames = [...]string{sim.Up: "up", sim.Down: "down", sim.Off: "without power", sim.Frozen: "frozen"}

// checkBrokers checks that brokers exist, are named once, and are in one of some statuses.
func (c *Cluster) checkBrokers(brokers []protocol.Broker, what string, ok ...sim.Status) error {
	if len(brokers) == 0 {
		return fmt.Errorf("cluster: no broker is named")
	}
	for i, b := range brokers {
		if !c.shared.Brokers.Has(b) {
			return c.noBroker(b)
		}
		if slices.Contains(brokers[:i], b) {
			return fmt.Errorf("cluster: broker %d is named twice", b)
		}
		if st := c.status(b); !slices.Contains(ok, st) {
			return fmt.Errorf("cluster: broker %d is %s: it cannot be %s", b, statusNames[st], what)
		}
	}
	return nil
}

func (x StopBrokers) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "stopped", sim.Up, sim.Frozen)
}

func (x StopBrokers) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerStopped, Node: sim.NodeID(b), How: trace.Crashed})
		c.machines[b].Crash()
		c.sched.Crash(sim.NodeID(b), false)
	}
}

func (x ShutDownBrokers) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "shut down", sim.Up)
}

func (x ShutDownBrokers) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.sched.Tell(sim.NodeID(b), broker.ShutDown{})
	}
}

func (x PowerOff) check(c *Cluster) error {
	if x.Keep >= 0 {
		if err := c.checkPartition(x.Partition); err != nil {
			return err
		}
	}
	return c.checkBrokers(x.Brokers, "powered off", sim.Up, sim.Down, sim.Frozen)
}

func (x PowerOff) apply(c *Cluster) {
	of := protocol.NoPartition
	if x.Keep >= 0 {
		of = c.names.Partitions.Find(x.Partition)
	}
	for _, b := range x.Brokers {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerStopped, Node: sim.NodeID(b), How: trace.LostPower})
		c.machines[b].LosePower(c.recorder, x.Keep, of)
		c.sched.Crash(sim.NodeID(b), true)
	}
}

func (x Wipe) check(c *Cluster) error {
	return c.checkBrokers([]protocol.Broker{x.Broker}, "wiped; stop it first", sim.Down, sim.Off)
}
func (x Wipe) apply(c *Cluster) { c.machines[x.Broker].Wipe(c.recorder, x.CheckpointOnly) }

func (x StartBrokers) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "started", sim.Down, sim.Off)
}

func (x StartBrokers) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerStarted, Node: sim.NodeID(b)})
		c.sched.Restart(sim.NodeID(b))
	}
}

func (x Freeze) check(c *Cluster) error { return c.checkBrokers(x.Brokers, "frozen", sim.Up) }

func (x Freeze) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerFrozen, Node: sim.NodeID(b)})
		c.frozenAt[b] = c.Now()
		c.sched.Freeze(sim.NodeID(b))
	}
}

func (x Thaw) check(c *Cluster) error { return c.checkBrokers(x.Brokers, "thawed", sim.Frozen) }

func (x Thaw) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.recorder.Emit(trace.Event{Kind: trace.BrokerThawed, Node: sim.NodeID(b), At: c.Now() - c.frozenAt[b]})
		c.sched.Thaw(sim.NodeID(b))
	}
}

// checkLink checks that a link's ends exist and differ.
func (c *Cluster) checkLink(l Link) error {
	from, ok := c.Node(l.From)
	if !ok {
		return fmt.Errorf("cluster: there is no %s", l.From)
	}
	to, ok := c.Node(l.To)
	if !ok {
		return fmt.Errorf("cluster: there is no %s", l.To)
	}
	if from == to {
		return fmt.Errorf("cluster: a link has two ends")
	}
	return nil
}

// eachWay calls f for the directions of a link.
func (c *Cluster) eachWay(l Link, f func(from, to sim.NodeID)) {
	from, _ := c.Node(l.From)
	to, _ := c.Node(l.To)
	f(from, to)
	if l.Both {
		f(to, from)
	}
}

func (c *Cluster) cut(from, to sim.NodeID) {
	if c.sched.IsCut(from, to) {
		return
	}
	c.recorder.Emit(trace.Event{Kind: trace.LinkCut, Node: from, Peer: to})
	c.sched.Cut(from, to)
}

func (c *Cluster) heal(from, to sim.NodeID) {
	if !c.sched.IsCut(from, to) {
		return
	}
	c.recorder.Emit(trace.Event{Kind: trace.LinkHealed, Node: from, Peer: to})
	c.sched.Heal(from, to)
}

func (x Cut) check(c *Cluster) error { return c.checkLink(x.Link) }
func (x Cut) apply(c *Cluster)       { c.eachWay(x.Link, c.cut) }

func (x Heal) check(c *Cluster) error {
	if x.Link == nil {
		return nil
	}
	return c.checkLink(*x.Link)
}

func (x Heal) apply(c *Cluster) {
	if x.Link != nil {
		c.eachWay(*x.Link, c.heal)
		return
	}
	for from := range c.names.Nodes {
		for to := range c.names.Nodes {
			c.heal(sim.NodeID(from), sim.NodeID(to))
		}
	}
}

func (x Isolate) check(c *Cluster) error {
	if !c.shared.Brokers.Has(x.Broker) {
		return c.noBroker(x.Broker)
	}
	return nil
}

func (x Isolate) apply(c *Cluster) {
	id := sim.NodeID(x.Broker)
	for other := range firstClient {
		if other == id || other != coord.NodeID && !c.shared.Brokers.Has(protocol.Broker(other)) {
			continue
		}
		c.cut(id, other)
		c.cut(other, id)
	}
}

func (x Slow) check(c *Cluster) error {
	if x.By < 0 {
		return fmt.Errorf("cluster: a delay is at least 0")
	}
	return c.checkLink(x.Link)
}

func (x Slow) apply(c *Cluster) {
	c.eachWay(x.Link, func(from, to sim.NodeID) {
		c.recorder.Emit(trace.Event{Kind: trace.LinkSlowed, Node: from, Peer: to, At: x.By})
		c.sched.Slow(from, to, x.By)
	})
}

func (x DropNext) check(c *Cluster) error {
	if err := c.checkLink(x.Link); err != nil {
		return err
	}
	if x.Class == protocol.DropNothing || x.Class >= protocol.DropClasses {
		return fmt.Errorf("cluster: answer, fetch or control can be dropped")
	}
	var armed error
	c.eachWay(x.Link, func(from, to sim.NodeID) {
		if armed == nil && c.sched.Drops(from, to, uint8(x.Class)) >= maxDrops {
			armed = fmt.Errorf("cluster: %d drops of that kind are armed on the link already", maxDrops)
		}
	})
	return armed
}

// maxDrops bounds the drops of one class that wait on one direction of a link.
const maxDrops = 20

func (x DropNext) apply(c *Cluster) {
	c.eachWay(x.Link, func(from, to sim.NodeID) {
		c.recorder.Emit(trace.Event{Kind: trace.DropArmed, Node: from, Peer: to, Text: x.Class.String()})
		c.sched.DropNext(from, to, uint8(x.Class))
	})
}

func (x SlowDisk) check(c *Cluster) error {
	if x.By < 0 {
		return fmt.Errorf("cluster: a delay is at least 0")
	}
	return c.checkBrokers([]protocol.Broker{x.Broker}, "slowed", allStatuses...)
}

func (x SlowDisk) apply(c *Cluster) {
	c.recorder.Emit(trace.Event{Kind: trace.DiskSlowed, Node: sim.NodeID(x.Broker), At: x.By})
	c.machines[x.Broker].SlowDisk(x.By)
}

func (x Hold) check(c *Cluster) error { return c.checkLink(x.Link) }

func (x Hold) apply(c *Cluster) {
	c.eachWay(x.Link, func(from, to sim.NodeID) {
		if !c.sched.IsHeld(from, to) {
			c.recorder.Emit(trace.Event{Kind: trace.LinkHeld, Node: from, Peer: to})
			c.sched.Hold(from, to)
		}
	})
}

func (x Release) check(c *Cluster) error { return c.checkLink(x.Link) }

func (x Release) apply(c *Cluster) {
	c.eachWay(x.Link, func(from, to sim.NodeID) {
		if c.sched.IsHeld(from, to) {
			c.recorder.Emit(trace.Event{Kind: trace.LinkReleased, Node: from, Peer: to})
			c.sched.Release(from, to)
		}
	})
}

// Deliverable lists the messages that may arrive next on held links, as commands.
func (c *Cluster) Deliverable() []Deliver {
	var l []Deliver
	c.sched.Heads(func(m *sim.Message) {
		if c.sched.IsHeld(m.From, m.To) {
			l = append(l, Deliver{messageKind(m), Link{From: c.names.Node(m.From), To: c.names.Node(m.To)}})
		}
	})
	return l
}

func messageKind(m *sim.Message) protocol.MessageKind {
	var d protocol.Description
	if body, ok := m.Body.(protocol.Body); ok {
		body.Describe(&d)
	}
	return d.Kind
}

// next is the message that a delivery is about; 0 when there is none.
func (x Deliver) next(c *Cluster) sim.Seq {
	from, _ := c.Node(x.Link.From)
	to, _ := c.Node(x.Link.To)
	id := sim.Seq(0)
	c.sched.Heads(func(m *sim.Message) {
		if id == 0 && m.From == from && m.To == to && messageKind(m) == x.Message {
			id = m.ID
		}
	})
	return id
}

func (x Deliver) check(c *Cluster) error {
	switch err := c.checkLink(x.Link); {
	case err != nil:
		return err
	case x.Link.Both:
		return fmt.Errorf("cluster: a message travels one way: write %s -> %s", x.Link.From, x.Link.To)
	case x.next(c) == 0:
		return fmt.Errorf("cluster: no %s can arrive next from %s at %s", x.Message, x.Link.From, x.Link.To)
	}
	return nil
}
func (x Deliver) apply(c *Cluster) { c.sched.Arrive(x.next(c)) }

// allStatuses is for what can be done to a broker whatever it does.
var allStatuses = []sim.Status{sim.Up, sim.Down, sim.Off, sim.Frozen}

func (x HoldFetches) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "held", allStatuses...)
}
func (x HoldFetches) apply(c *Cluster) {
	c.each(x.Brokers, trace.FetchesHeld, broker.HoldFetches{Held: true})
}

func (x ReleaseFetches) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "released", allStatuses...)
}
func (x ReleaseFetches) apply(c *Cluster) {
	c.each(x.Brokers, trace.FetchesReleased, broker.HoldFetches{})
}

// each tells brokers something, whether their processes run or not.
func (c *Cluster) each(brokers []protocol.Broker, kind trace.Kind, command any) {
	for _, b := range brokers {
		c.recorder.Emit(trace.Event{Kind: kind, Node: sim.NodeID(b)})
		c.sched.Tell(sim.NodeID(b), command)
	}
}

func (x HoldControl) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "held", allStatuses...)
}
func (x HoldControl) apply(c *Cluster) { c.holdControl(x.Brokers, true) }

func (x ReleaseControl) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "released", allStatuses...)
}
func (x ReleaseControl) apply(c *Cluster) { c.holdControl(x.Brokers, false) }

// holdControl tells every broker, whichever is or becomes the controller.
func (c *Cluster) holdControl(brokers []protocol.Broker, held bool) {
	for _, b := range brokers {
		kind := trace.ControlReleased
		c.heldControl = c.heldControl.Without(b)
		if held {
			kind, c.heldControl = trace.ControlHeld, c.heldControl.With(b)
		}
		c.recorder.Emit(trace.Event{Kind: kind, Node: sim.NodeID(b)})
		for other := range c.shared.Brokers.All {
			c.sched.Tell(sim.NodeID(other), broker.HoldControl{Broker: b, Held: held})
		}
	}
}

func (x ExpireSession) check(c *Cluster) error {
	if err := c.checkBrokers(x.Brokers, "expired", allStatuses...); err != nil {
		return err
	}
	for _, b := range x.Brokers {
		if !c.zookeeper.HasSession(sim.NodeID(b)) {
			return fmt.Errorf("cluster: broker %d has no session", b)
		}
	}
	return nil
}

func (x ExpireSession) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.sched.Tell(coord.NodeID, coord.ExpireSessionOf{Node: sim.NodeID(b)})
	}
}

func (x Flush) check(c *Cluster) error { return c.checkBrokers(x.Brokers, "flushed", sim.Up) }
func (x Flush) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.sched.Tell(sim.NodeID(b), broker.Flush{})
	}
}

func (x Checkpoint) check(c *Cluster) error {
	return c.checkBrokers(x.Brokers, "made to checkpoint", sim.Up)
}
func (x Checkpoint) apply(c *Cluster) {
	for _, b := range x.Brokers {
		c.sched.Tell(sim.NodeID(b), broker.Checkpoint{})
	}
}

func (x ElectPreferred) check(c *Cluster) error {
	if c.zookeeper.Exists(coord.PreferredElectionPath) {
		return fmt.Errorf("cluster: a preferred election is under way")
	}
	return c.checkPartition(x.Partition)
}

func (x ElectPreferred) apply(c *Cluster) {
	c.sched.Tell(coord.NodeID, coord.Admin{Op: coord.Op{Kind: coord.Create, Path: coord.PreferredElectionPath, Data: coord.EncodePartitions([]protocol.TopicPartition{x.Partition})}})
}

// leader is the replica that acts as a partition's leader: the one its znode names, up,
// and in that leader epoch.
func (c *Cluster) leader(tp protocol.TopicPartition) (*trace.ReplicaState, error) {
	s := c.Snapshot()
	none := fmt.Errorf("cluster: nobody acts as leader of %s", tp)
	z := s.Znode(coord.StatePath(tp))
	if z == nil {
		return nil, none
	}
	state, err := coord.DecodeState(z.Data)
	if err != nil || state.Leader == protocol.NoBroker || c.status(state.Leader) != sim.Up {
		return nil, none
	}
	r := s.Replica(sim.NodeID(state.Leader), c.names.Partitions.Find(tp))
	if r == nil || r.Role != trace.RoleLeader || r.LeaderEpoch != state.LeaderEpoch {
		return nil, none
	}
	return r, nil
}

func (x Trim) check(c *Cluster) error {
	if err := c.checkPartition(x.Partition); err != nil {
		return err
	}
	r, err := c.leader(x.Partition)
	switch {
	case err != nil:
		return err
	case x.To > r.HW:
		return fmt.Errorf("cluster: %s can be trimmed up to its HW, which is %d", x.Partition, r.HW)
	case x.To <= r.LogStart:
		return fmt.Errorf("cluster: the log of %s begins at %d already", x.Partition, r.LogStart)
	}
	return nil
}

// apply tells the leader. Where followers do not learn its log start, it stands for
// retention, which every running broker has of its own.
func (x Trim) apply(c *Cluster) {
	p := c.names.Partitions.Find(x.Partition)
	leader, err := c.leader(x.Partition)
	if err != nil {
		panic(err)
	}
	for b := range c.shared.Brokers.All {
		if sim.NodeID(b) == leader.Broker || !c.rules.FollowersTrimWithLeader && c.status(b) == sim.Up {
			c.sched.Tell(sim.NodeID(b), broker.Trim{Partition: p, To: x.To})
		}
	}
}

// controller is the broker that is the controller: the one that the znode names, up, and
// of that belief itself.
func (c *Cluster) controller() (protocol.Broker, error) {
	s := c.Snapshot()
	if z := s.Znode(coord.ControllerPath); z != nil {
		if b := coord.DecodeController(z.Data); c.status(b) == sim.Up && c.machines[b].IsController() {
			return b, nil
		}
	}
	return protocol.NoBroker, fmt.Errorf("cluster: there is no controller at present")
}

func (x ElectUnclean) check(c *Cluster) error {
	if !c.rules.UncleanElectionCommand {
		return fmt.Errorf("cluster: Kafka %s has no elect unclean, it came with 2.4 (KIP-460); there, set unclean.leader.election.enable true", c.rules.Line)
	}
	if err := c.checkPartition(x.Partition); err != nil {
		return err
	}
	if z := c.Snapshot().Znode(coord.StatePath(x.Partition)); z != nil {
		if s, err := coord.DecodeState(z.Data); err == nil && s.Leader != protocol.NoBroker {
			return fmt.Errorf("cluster: %s has a leader, broker %d; an unclean election is for a partition that is offline", x.Partition, s.Leader)
		}
	}
	_, err := c.controller()
	return err
}

// apply hands the request to the controller, as the administrator's tool does; it is there
// at once.
func (x ElectUnclean) apply(c *Cluster) {
	b, err := c.controller()
	if err != nil {
		panic(err)
	}
	c.sched.Tell(sim.NodeID(b), broker.ElectUnclean{Partition: c.names.Partitions.Find(x.Partition)})
}

func (x Reassign) check(c *Cluster) error {
	if err := c.checkPartition(x.Partition); err != nil {
		return err
	}
	if err := c.checkBrokers(x.Replicas, "assigned", allStatuses...); err != nil {
		return err
	}
	if c.zookeeper.Assignment(c.names.Partitions.Find(x.Partition)) == protocol.ReplicasOf(x.Replicas...) {
		return fmt.Errorf("cluster: %s is assigned to%s already", x.Partition, ids(x.Replicas))
	}
	if c.zookeeper.Exists(coord.ReassignPath) {
		return fmt.Errorf("cluster: a reassignment is under way")
	}
	return nil
}

func (x Reassign) apply(c *Cluster) {
	data := coord.EncodeReassignment([]coord.Reassignment{{Partition: x.Partition, Replicas: x.Replicas}})
	c.sched.Tell(coord.NodeID, coord.Admin{Op: coord.Op{Kind: coord.Create, Path: coord.ReassignPath, Data: data}})
}
