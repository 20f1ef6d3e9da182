package broker

import (
	"slices"

	"tidemark/cluster/controller"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/replica"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// broker is a running process. Kafka: kafka.server.KafkaServer and KafkaApis.
type broker struct {
	id         protocol.Broker
	config     *protocol.Config
	session    coord.Session
	controller *controller.Controller
	replicas   *replica.Manager
	metadata   metadataCache

	registered      bool
	serving         bool           // it handles requests
	early           []sim.Message  // requests that came before that, in order
	epoch           int64          // czxid of its registration (KIP-380)
	controllerEpoch protocol.Epoch // the highest it has heard of
	waiting         []sim.Message  // control requests that wait for a locked partition, in order
	shutdown        shutdown
	producerIDs     producerIDs
}

// metadataCache is what UpdateMetadata requests have said. Kafka: MetadataCache.
type metadataCache struct {
	live       protocol.Brokers
	controller protocol.Broker
	partitions []protocol.PartitionState // by partition
}

// ownerBroker marks the operations that this package submits to ZooKeeper.
const ownerBroker uint8 = 3

const (
	tagRegister uint8 = iota
	tagLookAtOwner
	tagDeleteOld
	tagReadBlock
	tagClaimBlock
)

// The timers of this package.
const (
	timerRegister sim.TimerID = 60 + iota
	timerShutdown
)

// registerRetry is the pause before a refused registration is tried again. Kafka gives
// up after one failure; the process is then started again by whoever looks after it.
const registerRetry = 500 * sim.Millisecond

func newBroker(m *Machine, now sim.Time, out *sim.Outbox) *broker {
	b := &broker{id: m.id, config: m.config}
	b.serving = !m.config.Rules.ServeAfterRegistration
	b.metadata.controller = protocol.NoBroker
	b.controller = controller.New(m.id, m.config, m.heldControl)
	b.replicas = replica.NewManager(m.id, m.config, &m.disk, m.heldFetches, out)
	b.session.KeepCalls = m.config.Rules.CallsOutliveSession
	b.session.Open(now, sim.Time(m.config.Settings.ZooKeeperSessionTimeout), out)
	return b
}

func (b *broker) step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	ctx := coord.Context{Now: now, Out: out, Session: &b.session}
	switch in.Kind {
	case sim.Deliver:
		b.deliver(ctx, &in.Message)
	case sim.Fire:
		b.fire(ctx, in.Timer)
	case sim.Disconnected:
		b.disconnected(ctx, in.Peer, in.Conn)
	case sim.Tell:
		b.tell(ctx, in.Command)
	}
	if !out.Exiting() {
		b.retryControl(ctx)
	}
}

func (b *broker) deliver(ctx coord.Context, msg *sim.Message) {
	if !b.serving && !msg.Answer {
		b.early = append(b.early, *msg)
		return
	}
	switch body := msg.Body.(type) {
	case *coord.Answer, *coord.WatchEvent:
		if n, ok := b.session.Deliver(ctx.Now, msg, ctx.Out); ok {
			b.notice(ctx, n)
		}
	case *protocol.FetchAnswer, *protocol.EpochAnswer, *protocol.OffsetsAnswer:
		b.replicas.Answer(ctx, msg)
	case *protocol.ControlAnswer:
		b.controller.Answer(ctx, msg)
	case *protocol.ControlledShutdown:
		b.controller.ControlledShutdown(ctx, msg)
	case *protocol.ControlledShutdownAnswer:
		b.shutdownAnswer(ctx, msg, body)
	case *protocol.MetadataRequest:
		ctx.Out.Reply(msg, b.metadata.answer())
	case *protocol.InitProducerID:
		b.initProducerID(ctx, msg)
	case *protocol.LeaderAndISR, *protocol.UpdateMetadata, *protocol.StopReplica:
		b.waiting = append(b.waiting, *msg) // in order, behind those that wait
	default:
		b.replicas.Request(ctx, msg)
	}
}

// serve begins to handle requests. Kafka: KafkaServer.startup, which starts the threads of
// the network last.
func (b *broker) serve(ctx coord.Context) {
	b.serving = true
	for len(b.early) > 0 {
		msg := b.early[0]
		b.early = slices.Delete(b.early, 0, 1)
		b.deliver(ctx, &msg)
	}
}

// retryControl handles the control requests that can be handled. One that concerns a
// locked partition waits, and those behind it: Kafka holds its replicaStateChangeLock.
func (b *broker) retryControl(ctx coord.Context) {
	for len(b.waiting) > 0 {
		msg := b.waiting[0]
		if b.replicas.Locks(msg.Body.(protocol.Body)) {
			return
		}
		b.waiting = slices.Delete(b.waiting, 0, 1)
		b.control(ctx, &msg)
	}
}

// control handles a controller's request, unless its epoch is old or it was meant for
// an earlier life of this broker.
func (b *broker) control(ctx coord.Context, msg *sim.Message) {
	var epoch protocol.Epoch
	var brokerEpoch int64
	a := &protocol.ControlAnswer{}
	switch r := msg.Body.(type) {
	case *protocol.LeaderAndISR:
		epoch, brokerEpoch, a.Kind = r.ControllerEpoch, r.BrokerEpoch, protocol.KindLeaderAndISRAnswer
	case *protocol.UpdateMetadata:
		epoch, brokerEpoch, a.Kind = r.ControllerEpoch, r.BrokerEpoch, protocol.KindUpdateMetadataAnswer
	case *protocol.StopReplica:
		epoch, brokerEpoch, a.Kind = r.ControllerEpoch, r.BrokerEpoch, protocol.KindStopReplicaAnswer
	}
	switch {
	case brokerEpoch != protocol.NoBrokerEpoch && brokerEpoch < b.epoch:
		a.Error = protocol.StaleBrokerEpoch
	case epoch < b.controllerEpoch:
		a.Error = protocol.StaleControllerEpoch
	}
	if a.Error != protocol.None {
		trace.Emit(ctx.Out, trace.Event{Kind: trace.ControlRejected, Node: sim.NodeID(b.id), Peer: msg.From, Error: a.Error})
		ctx.Out.Reply(msg, a)
		return
	}
	b.controllerEpoch = epoch
	switch r := msg.Body.(type) {
	case *protocol.LeaderAndISR:
		b.replicas.LeaderAndISR(ctx, r, b.metadata.live|r.LiveLeaders)
	case *protocol.UpdateMetadata:
		b.metadata.update(r)
	case *protocol.StopReplica:
		b.replicas.StopReplica(ctx, r)
	}
	ctx.Out.Reply(msg, a)
}

func (c *metadataCache) update(r *protocol.UpdateMetadata) {
	c.live, c.controller = r.LiveBrokers, r.Controller
	for _, s := range r.Partitions {
		i, ok := slices.BinarySearchFunc(c.partitions, s.Partition, func(x protocol.PartitionState, p protocol.Partition) int { return int(x.Partition) - int(p) })
		if ok {
			c.partitions[i] = s
		} else {
			c.partitions = slices.Insert(c.partitions, i, s)
		}
	}
}

// answer is the cache as clients get it. Kafka: MetadataCache.getPartitionMetadata.
func (c *metadataCache) answer() *protocol.MetadataAnswer {
	a := &protocol.MetadataAnswer{Brokers: c.live, Controller: c.controller}
	for _, s := range c.partitions {
		m := protocol.PartitionMetadata{Partition: s.Partition, Leader: s.Leader, LeaderEpoch: s.LeaderEpoch, ISR: s.ISR}
		if !c.live.Has(s.Leader) {
			m.Error, m.Leader = protocol.LeaderNotAvailable, protocol.NoBroker
		}
		a.Partitions = append(a.Partitions, m)
	}
	return a
}

func (b *broker) fire(ctx coord.Context, id sim.TimerID) {
	switch {
	case id == coord.TimerSession:
		if n, ok := b.session.Fire(ctx.Now, ctx.Out); ok {
			b.notice(ctx, n)
		}
	case id == timerRegister:
		b.register(ctx)
	case id == timerShutdown:
		b.askShutdown(ctx)
	case b.replicas.Fire(ctx, id):
	default:
		b.controller.Fire(ctx, id)
	}
}

func (b *broker) disconnected(ctx coord.Context, peer sim.NodeID, conn sim.Conn) {
	if conn.Client != sim.NodeID(b.id) {
		return // somebody who asked us is gone
	}
	switch conn.Purpose {
	case protocol.ForZooKeeper:
		if n, ok := b.session.Closed(ctx.Now, ctx.Out); ok {
			b.notice(ctx, n)
		}
	case protocol.ForReplicas:
		b.replicas.Closed(ctx, protocol.Broker(peer))
	case protocol.ForControl:
		b.controller.Closed(ctx, protocol.Broker(peer))
	}
}

func (b *broker) tell(ctx coord.Context, command any) {
	switch x := command.(type) {
	case Begin:
		b.replicas.StartTasks(ctx)
	case ShutDown:
		b.beginShutdown(ctx)
	case HoldFetches:
		b.replicas.HoldFetches(ctx, x.Held)
	case HoldControl:
		b.controller.HoldControl(ctx, x.Broker, x.Held)
	case ElectUnclean:
		b.controller.ElectUnclean(ctx, x.Partition)
	case UncleanEnabled:
		b.controller.UncleanEnabled(ctx, x.Topic)
	case Trim:
		b.replicas.Trim(ctx, x.Partition, x.To)
	case Flush:
		b.replicas.FlushAll(ctx)
	case Checkpoint:
		b.replicas.Checkpoint(ctx)
	}
}

func (b *broker) idle() bool {
	return b.registered && len(b.waiting) == 0 && b.replicas.Idle() && b.controller.Idle() && b.shutdown.phase == running
}

func (b *broker) clone(m *Machine) *broker {
	c := *b
	c.config = m.config
	c.session = b.session.Clone()
	c.controller = b.controller.Clone(m.config)
	c.replicas = b.replicas.Clone(m.config, &m.disk)
	c.metadata.partitions = slices.Clone(b.metadata.partitions)
	c.waiting, c.early = slices.Clone(b.waiting), slices.Clone(b.early)
	c.producerIDs.waiting = slices.Clone(b.producerIDs.waiting)
	return &c
}
