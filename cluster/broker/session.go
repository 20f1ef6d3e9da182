package broker

import (
	"tidemark/cluster/controller"
	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/replica"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// notice takes what the session has to say to the part that it concerns.
func (b *broker) notice(ctx coord.Context, n coord.Notice) {
	switch n.Kind {
	case coord.Connected:
		b.controller.SessionRenewed(ctx)
		b.register(ctx)
	case coord.Disconnected:
		b.replicas.ZooKeeperLost(ctx)
	case coord.Expired:
		// Who lost its session is not the controller; its replicas go on as they are: a
		// leader without a session keeps serving until it is told otherwise.
		b.registered = false
		b.session.Forget(ownerBroker)
		if !b.config.Rules.CallsOutliveSession {
			b.controller.SessionExpired(ctx)
			b.replicas.SessionExpired(ctx)
		}
		b.session.Open(ctx.Now, sim.Time(b.config.Settings.ZooKeeperSessionTimeout), ctx.Out)
		b.reclaim(ctx)
	case coord.Watched:
		b.controller.Watched(ctx, n.Watch)
	case coord.Answered:
		switch n.Tag.Owner {
		case replica.OwnerReplica:
			b.replicas.Answered(ctx, n.Tag, n.Answer)
		case controller.OwnerController:
			b.controller.Answered(ctx, n.Tag, n.Answer)
		case ownerBroker:
			if n.Tag.What == tagReadBlock || n.Tag.What == tagClaimBlock {
				b.producerIDBlockAnswer(ctx, n.Tag, n.Answer)
				break
			}
			b.registration(ctx, n.Tag, n.Answer)
		}
	}
}

// register creates the broker's ephemeral znode. Kafka: KafkaZkClient.registerBroker.
func (b *broker) register(ctx coord.Context) {
	b.submit(ctx, tagRegister, coord.Op{Kind: coord.Create, Path: coord.BrokerIDPath(b.id), Data: coord.EncodeBroker(b.id, ctx.Now), Ephemeral: true})
}

func (b *broker) submit(ctx coord.Context, what uint8, op coord.Op) {
	ctx.Session.Submit(ctx.Now, op, coord.Tag{Owner: ownerBroker, What: what, Partition: protocol.NoPartition}, ctx.Out)
}

// registration goes on with the answer. While the old session lives its znode is in
// the way: the registration is refused and tried again, or takes the znode over where
// the rule says so. Differs: Kafka's process ends after one refusal and is started again.
func (b *broker) registration(ctx coord.Context, tag coord.Tag, a *coord.Answer) {
	if tag.What != tagRegister {
		if tag.What == tagDeleteOld {
			b.register(ctx)
		}
		return
	}
	mine := a.Err == coord.NodeExists && a.Stat.Owner == b.session.ID() // the answer to an earlier try was lost
	switch {
	case a.Err == coord.OK || mine:
		b.registered, b.epoch = true, a.Stat.Czxid
		b.serve(ctx)
		trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.BrokerRegistered, Node: sim.NodeID(b.id)}))
		b.controller.Start(ctx)
	case a.Err == coord.NodeExists && b.config.Rules.EarlyRestart == protocol.EarlyRestartAccepted:
		b.submit(ctx, tagDeleteOld, coord.Op{Kind: coord.Delete, Path: coord.BrokerIDPath(b.id), Version: coord.AnyVersion})
	default:
		trace.Emit(ctx.Out, trace.Event{Kind: trace.RegistrationRefused, Node: sim.NodeID(b.id)})
		ctx.Out.SetTimer(timerRegister, registerRetry)
	}
}

// shutdown is how far a controlled shutdown is.
type shutdown struct {
	phase   shutdownPhase
	tries   int64
	request sim.Seq
}

type shutdownPhase uint8

const (
	running shutdownPhase = iota
	asking                // the controller was asked
	pausing               // before it is asked again
)

// beginShutdown asks the controller to hand leaderships over, and stops afterwards in
// good order. Kafka: KafkaServer.controlledShutdown.
func (b *broker) beginShutdown(ctx coord.Context) {
	if b.shutdown.phase != running {
		return
	}
	b.shutdown.tries = b.config.Settings.ControlledShutdownRetries
	b.askShutdown(ctx)
}

func (b *broker) askShutdown(ctx coord.Context) {
	to := b.metadata.controller
	if b.controller.Active() {
		to = b.id
	}
	if b.shutdown.tries == 0 || to == protocol.NoBroker {
		b.exit(ctx)
		return
	}
	b.shutdown.tries--
	b.shutdown.phase = asking
	b.shutdown.request = ctx.Out.Request(sim.NodeID(to), protocol.ForShutdown, &protocol.ControlledShutdown{Broker: b.id, BrokerEpoch: b.epoch})
	ctx.Out.SetTimer(timerShutdown, sim.Time(b.config.Settings.ControllerSocketTimeout))
}

func (b *broker) shutdownAnswer(ctx coord.Context, msg *sim.Message, a *protocol.ControlledShutdownAnswer) {
	if b.shutdown.phase != asking || msg.InReplyTo != b.shutdown.request {
		return
	}
	if a.Error == protocol.None && len(a.Remaining) == 0 {
		b.exit(ctx)
		return
	}
	b.shutdown.phase = pausing
	ctx.Out.SetTimer(timerShutdown, sim.Time(b.config.Settings.ControlledShutdownBackoff))
}

// exit ends the process in good order: checkpoint, flush, close the session.
func (b *broker) exit(ctx coord.Context) {
	b.replicas.ShutDown(ctx)
	b.session.Close(ctx.Out)
	trace.Emit(ctx.Out, trace.Event{Kind: trace.BrokerStopped, Node: sim.NodeID(b.id), How: trace.ShutDown})
	ctx.Out.Exit()
}
