package search

import (
	"fmt"
	"slices"
	"strconv"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// Options are what all runs of a search have in common.
type Options struct {
	Line     protocol.Line // empty: protocol.DefaultLine
	Rules    []cluster.RuleOverride
	Settings []cluster.Set // of the whole cluster; they replace what a run would draw
	NoPower  bool          // no power cuts
}

// Check says what is wrong with the options.
func (o Options) Check() error {
	_, err := cluster.New(cluster.Config{Line: o.Line, Rules: o.Rules, Settings: o.Settings, Brokers: []protocol.Broker{1}})
	return err
}

const topic = "topic1"

func partition(i int) protocol.TopicPartition {
	return protocol.TopicPartition{Topic: topic, Index: i}
}

// drawing is a schedule while it is drawn.
type drawing struct {
	*random
	Schedule
	kinds     []Kind // from which units are drawn, likely ones several times
	producers []string
	session   sim.Time
	bounce    bool // a broker may be back before its session has ended
}

// Draw draws a schedule. Each run has a random subset of the kinds of fault, so that rare
// ones get runs of their own (Groce and others, Swarm Testing, 2012).
func Draw(o Options, seed uint64) Schedule {
	d := newDrawing(o, seed)
	for range 2 + d.below(20) {
		d.Units = append(d.Units, d.unit(Burst, d.moment()))
	}
	for range 1 + d.below(18) {
		d.Units = append(d.Units, d.unit(pick(d.random, d.kinds), d.moment()))
	}
	return d.Schedule
}

// moment is when something happens.
func (d *drawing) moment() sim.Time {
	return sim.Time(d.below(int(d.Faults/sim.Millisecond))) * sim.Millisecond
}

func newDrawing(o Options, seed uint64) *drawing {
	d := &drawing{random: newRandom(seed, 1)}
	d.Config.Line, d.Config.Rules, d.Config.Seed = o.Line, o.Rules, seed
	d.cluster(o)
	d.swarm(o)
	d.Faults = d.between(8*sim.Second, 40*sim.Second)
	effective, _ := d.rules()
	d.Rolling = !effective.BounceDetection
	return d
}

// cluster draws brokers, partitions, settings and clients.
func (d *drawing) cluster(o Options) {
	brokers := 3 + d.below(2)
	for b := range brokers {
		d.Config.Brokers = append(d.Config.Brokers, protocol.Broker(b+1))
	}
	d.Config.Controller = pick(d.random, d.Config.Brokers)
	for i := range 1 + d.below(2) {
		replicas := slices.Clone(d.Config.Brokers)
		shuffle(d.random, replicas)
		d.Config.Partitions = append(d.Config.Partitions, cluster.AddPartition{Partition: partition(i), Replicas: replicas[:2+d.below(2)]})
	}
	set := func(key string, values ...string) {
		v := pick(d.random, values)
		if v != "" && !slices.ContainsFunc(o.Settings, func(s cluster.Set) bool { return s.Key == key }) {
			d.Config.Settings = append(d.Config.Settings, cluster.Set{Key: key, Value: v})
		}
	}
	set("unclean.leader.election.enable", "false", "false", "false", "true")
	set("min.insync.replicas", "", "2")
	set("zookeeper.session.timeout.ms", "", "2000", "4000")
	set("replica.lag.time.max.ms", "", "2000", "4000")
	set("replica.lag.max.messages", "", "5")
	set("replica.high.watermark.checkpoint.interval.ms", "", "500", "2000")
	set("replica.socket.timeout.ms", "", "3000")
	set("controller.socket.timeout.ms", "", "3000")
	set("replica.fetch.max.records", "", "1")
	set("auto.leader.rebalance.enable", "", "false")
	set("leader.imbalance.check.interval.seconds", "", "5")
	set("disk.writeback", "", "1s")
	set("network.latency", "", "5ms", "20ms")
	set("network.jitter", "", "5ms", "40ms", "200ms")
	d.Config.Settings = append(d.Config.Settings, o.Settings...)
	d.session = 6 * sim.Second
	for _, s := range d.Config.Settings {
		if s.Key == "zookeeper.session.timeout.ms" {
			if ms, err := strconv.Atoi(s.Value); err == nil {
				d.session = sim.Time(ms) * sim.Millisecond
			}
		}
	}
	for i := range d.Config.Partitions {
		d.producer(fmt.Sprint("P", i), i, protocol.AcksAll)
		d.producer(fmt.Sprint("Q", i), i, int8(d.below(3))-1)
	}
	if d.oneIn(2) {
		d.Clients = append(d.Clients, cluster.AddReader{Name: "R", Partition: partition(0), From: protocol.NoOffset, Reset: pick(d.random, []string{"earliest", "latest"})})
	}
}

func (d *drawing) producer(name string, p int, acks int8) {
	d.producers = append(d.producers, name)
	d.Clients = append(d.Clients, cluster.AddProducer{Name: name, Acks: acks, Partition: partition(p),
		Retries: pick(d.random, []int{0, 3, 30}), Timeout: pick(d.random, []sim.Time{2 * sim.Second, 10 * sim.Second}), Inflight: pick(d.random, []int{1, 5})})
}

// swarm picks the kinds of unit that a run has, and their weights.
func (d *drawing) swarm(o Options) {
	d.bounce = d.oneIn(2)
	power := d.oneIn(4) && !o.NoPower
	for k := range kindEnd {
		switch {
		case k == Burst || k == Arrive || k == Power && !power:
		case d.oneIn(2):
			for range 1 + d.below(3) {
				d.kinds = append(d.kinds, k)
			}
		}
	}
	if len(d.kinds) == 0 {
		d.kinds = []Kind{Crash}
	}
}

// unit draws a unit of a kind.
func (d *drawing) unit(kind Kind, at sim.Time) Unit {
	u := Unit{Kind: kind, At: at, For: d.between(20*sim.Millisecond, 16*sim.Second)}
	b := []protocol.Broker{pick(d.random, d.Config.Brokers)}
	switch kind {
	case Burst:
		u.Begin = cluster.SendNumbered{Producer: pick(d.random, d.producers), Count: 1 + d.below(4)}
	case ChangeAcks:
		// Never to all: what was sent before would be taken for a promise of acks=all.
		u.Begin = cluster.SetAcks{Producer: pick(d.random, d.producers), Acks: int8(d.below(2))}
	case Crash:
		u.Begin, u.End, u.For = cluster.StopBrokers{Brokers: b}, cluster.StartBrokers{Brokers: b}, d.outage()
	case CrashAll:
		b = d.several()
		u.Begin, u.End, u.For = cluster.StopBrokers{Brokers: b}, cluster.StartBrokers{Brokers: b}, d.outage()
	case Power:
		if d.oneIn(2) {
			b = d.several()
		}
		u.Begin, u.End, u.For = cluster.PowerOff{Brokers: b, Keep: -1}, cluster.StartBrokers{Brokers: b}, d.outage()
	case Pause:
		u.Begin, u.End = cluster.Freeze{Brokers: b}, cluster.Thaw{Brokers: b}
	case CutLink:
		l := d.link()
		u.Begin, u.End = cluster.Cut{Link: l}, cluster.Heal{Link: &l}
		if d.oneIn(4) {
			u.Begin, u.End = cluster.Isolate{Broker: b[0]}, cluster.Heal{}
		}
	case SlowLink:
		l := d.link()
		u.Begin, u.End = cluster.Slow{Link: l, By: d.between(50*sim.Millisecond, 3*sim.Second)}, cluster.Slow{Link: l}
	case HoldLink:
		l := d.link()
		u.Begin, u.End = cluster.Hold{Link: l}, cluster.Release{Link: l}
	case HoldFetch:
		u.Begin, u.End = cluster.HoldFetches{Brokers: b}, cluster.ReleaseFetches{Brokers: b}
	case HoldControl:
		u.Begin, u.End = cluster.HoldControl{Brokers: b}, cluster.ReleaseControl{Brokers: b}
	case Expire:
		u.Begin = cluster.ExpireSession{Brokers: b}
	case Shutdown:
		u.Begin, u.End, u.For = cluster.ShutDownBrokers{Brokers: b}, cluster.StartBrokers{Brokers: b}, d.outage()
	case Sync:
		u.Begin = cluster.Flush{Brokers: b}
		if d.oneIn(2) {
			u.Begin = cluster.Checkpoint{Brokers: b}
		}
	case Preferred:
		u.Begin = cluster.ElectPreferred{Partition: partition(d.below(len(d.Config.Partitions)))}
	}
	if u.End == nil {
		u.For = 0
	}
	return u
}

// outage is how long a broker is away.
func (d *drawing) outage() sim.Time {
	if d.bounce && d.oneIn(2) {
		return d.between(50*sim.Millisecond, d.session)
	}
	return d.session + d.between(200*sim.Millisecond, 10*sim.Second)
}

func (d *drawing) several() []protocol.Broker {
	l := slices.Clone(d.Config.Brokers)
	shuffle(d.random, l)
	l = l[:2+d.below(len(l)-1)]
	slices.Sort(l)
	return l
}

// link draws a link: mostly between brokers or a broker and ZooKeeper, sometimes a client's.
func (d *drawing) link() cluster.Link {
	ends := slices.Clone(d.Config.Brokers)
	shuffle(d.random, ends)
	name := func(b protocol.Broker) string { return strconv.Itoa(int(b)) }
	l := cluster.Link{From: name(ends[0]), To: name(ends[1]), Both: d.oneIn(2)}
	switch d.below(6) {
	case 0, 1:
		l.To = "zookeeper"
	case 2:
		l.To = pick(d.random, d.producers)
	}
	if d.oneIn(2) {
		l.From, l.To = l.To, l.From
	}
	return l
}
