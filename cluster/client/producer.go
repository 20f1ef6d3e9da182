package client

import (
	"slices"
	"strconv"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// Producer sends records to one partition. Kafka: KafkaProducer and its Sender.
type Producer struct {
	locator
	identity
	connections
	config   *protocol.Config
	name     string
	acks     int8
	retries  int
	timeout  sim.Time // request.timeout.ms, and what the leader is told
	inflight int      // max.in.flight.requests.per.connection
	every    sim.Time // of the stream
	counter  int      // of numbered records
	queue    []batch  // waiting, in order
	sent     []sentBatch
}

// batch is the records of one request.
type batch struct {
	values   []protocol.Value
	attempts int
	deadline sim.Time // of being sent at all
	after    sim.Time // not before this time: retry.backoff.ms
	producer protocol.ProducerID
	sequence protocol.Sequence // of the first record; NoSequence until it is sent, and without idempotence
}

// sentBatch is a request under way.
type sentBatch struct {
	batch
	request  sim.Seq
	to       protocol.Broker
	deadline sim.Time
}

// ProducerOptions are what a producer is made with.
type ProducerOptions struct {
	Nth       int // how many clients were made before it
	Name      string
	Partition protocol.Partition
	Acks      int8
	Retries   int
	Timeout   sim.Time
	Inflight  int
	// Idempotent: its records are numbered, so that a leader knows a repeated one again.
	Idempotent bool
}

const (
	timerProducer sim.TimerID = 10 + iota
	timerStream
)

// answerGrace is how much longer than the leader's timeout a producer waits for an
// answer. Differs: Kafka's two timeouts are equal by default, and which one wins is luck.
const answerGrace = sim.Second

// NewProducer makes a producer.
func NewProducer(o ProducerOptions, config *protocol.Config) *Producer {
	p := &Producer{locator: newLocator(o.Partition, o.Nth, config), config: config, name: o.Name, acks: o.Acks, retries: o.Retries, timeout: o.Timeout, inflight: o.Inflight}
	p.identity = newIdentity(o.Idempotent, p.from)
	return p
}

// Commands that a producer takes.
type (
	// Send gives it records; each group of values goes as one request.
	Send struct{ Batches [][]protocol.Value }
	// SendNumbered gives it that many, one a request, named by its counter.
	SendNumbered struct{ Count int }
	// Stream makes it send one every so often; zero ends that.
	Stream struct{ Every sim.Time }
	// SetAcks changes its acks.
	SetAcks struct{ Acks int8 }
)

// Step implements sim.Node.
func (p *Producer) Step(now sim.Time, in *sim.Input, out *sim.Outbox) {
	switch in.Kind {
	case sim.Deliver:
		p.heard(protocol.Broker(in.Message.From))
		switch a := in.Message.Body.(type) {
		case *protocol.MetadataAnswer:
			p.locator.answer(&in.Message, a, p.config, out)
		case *protocol.ProduceAnswer:
			p.answer(now, &in.Message, a, out)
		case *protocol.InitProducerIDAnswer:
			p.gotID(&in.Message, a, out)
		}
	case sim.Disconnected:
		p.connections.lost(protocol.Broker(in.Peer))
		p.locator.disconnected(in.Peer, p.config, out)
		if p.identity.asked != 0 && p.askedOf == protocol.Broker(in.Peer) {
			p.lostID(out)
		}
		p.connectionLost(now, protocol.Broker(in.Peer), out)
	case sim.Fire:
		switch in.Timer {
		case timerMetadata:
			p.locator.fire(p.config, p.owing(), out)
		case timerStream:
			p.enqueue(now, [][]protocol.Value{{p.number()}}, out)
			out.SetTimer(timerStream, p.every)
		case timerProducer:
			p.expire(now, out)
		case timerProducerID:
			p.fireID(out)
		}
	case sim.Tell:
		p.tell(now, in.Command, out)
	}
	p.pump(now, out)
}

func (p *Producer) tell(now sim.Time, command any, out *sim.Outbox) {
	switch x := command.(type) {
	case Send:
		p.enqueue(now, x.Batches, out)
	case SendNumbered:
		batches := make([][]protocol.Value, x.Count)
		for i := range batches {
			batches[i] = []protocol.Value{p.number()}
		}
		p.enqueue(now, batches, out)
	case Stream:
		p.every = x.Every
		if x.Every == 0 {
			trace.Emit(out, trace.Event{Kind: trace.StreamStopped, Node: out.Node()})
			out.StopTimer(timerStream)
			return
		}
		trace.Emit(out, trace.Event{Kind: trace.StreamStarted, Node: out.Node(), At: x.Every})
		out.SetTimer(timerStream, x.Every)
	case SetAcks:
		p.acks = x.Acks
		trace.Emit(out, trace.Event{Kind: trace.ProducerChanged, Node: out.Node(), Acks: x.Acks})
	}
}

// number makes the next numbered value that nobody has used.
func (p *Producer) number() protocol.Value {
	for {
		p.counter++
		if v, added := p.config.Values.AddNew(p.name + strconv.Itoa(p.counter)); added {
			return v
		}
	}
}

func (p *Producer) enqueue(now sim.Time, batches [][]protocol.Value, out *sim.Outbox) {
	for _, values := range batches {
		trace.Emit(out, trace.Event{Kind: trace.RecordQueued, Node: out.Node(), Partition: p.partition, Values: values})
		p.queue = append(p.queue, batch{values: values, deadline: now + p.timeout, sequence: protocol.NoSequence})
	}
}

// pump sends what can be sent, and sets the timer for what cannot.
func (p *Producer) pump(now sim.Time, out *sim.Outbox) {
	p.resolve(out)
	p.askID(out)
	for len(p.queue) > 0 && len(p.sent) < p.inflight && p.queue[0].after <= now && p.mayPump() {
		if p.leader == protocol.NoBroker {
			p.refresh(p.config, p.owing(), out)
			break
		}
		if !p.ready(now, p.leader, out) {
			break
		}
		b := p.queue[0]
		p.queue = slices.Delete(p.queue, 0, 1)
		p.send(now, b, out)
	}
	at := sim.Never
	if p.probe != 0 {
		at = p.connections.giveUp
	}
	for i := range p.queue {
		at = min(at, p.queue[i].deadline)
	}
	if len(p.queue) > 0 && p.queue[0].after > now {
		at = min(at, p.queue[0].after)
	}
	for i := range p.sent {
		at = min(at, p.sent[i].deadline)
	}
	if at != sim.Never {
		out.SetTimer(timerProducer, max(at-now, 0))
	}
}

func (p *Producer) send(now sim.Time, b batch, out *sim.Outbox) {
	b.attempts++
	p.stamp(&b)
	id, sequence := b.hasID()
	request := out.Request(sim.NodeID(p.leader), protocol.ForClients, &protocol.Produce{
		Acks: p.acks, Timeout: int64(p.timeout), Partition: p.partition, Values: b.values, Producer: id, Sequence: sequence})
	trace.Emit(out, trace.Event{Kind: trace.RecordSent, Node: out.Node(), Peer: sim.NodeID(p.leader), Partition: p.partition, Values: b.values, Message: request, Producer: id, Sequence: sequence})
	if p.acks == 0 {
		trace.Emit(out, trace.Event{Kind: trace.RecordAssumed, Node: out.Node(), Partition: p.partition, Values: b.values})
		return
	}
	p.sent = append(p.sent, sentBatch{batch: b, request: request, to: p.leader, deadline: now + p.timeout + answerGrace})
}

func (p *Producer) answer(now sim.Time, msg *sim.Message, a *protocol.ProduceAnswer, out *sim.Outbox) {
	i := slices.IndexFunc(p.sent, func(s sentBatch) bool { return s.request == msg.InReplyTo })
	if i < 0 {
		return // it was given up meanwhile
	}
	s := p.sent[i]
	p.sent = slices.Delete(p.sent, i, i+1)
	if a.Error == protocol.None {
		p.stored(&s.batch, a.BaseOffset)
		trace.Emit(out, trace.Event{Kind: trace.RecordAcked, Node: out.Node(), Partition: p.partition, Offset: a.BaseOffset, Values: s.values})
		return
	}
	p.refused(now, s, a.Error, a.LogStart, out)
	if a.Error == protocol.NotLeaderForPartition || a.Error == protocol.UnknownTopicOrPartition || a.Error == protocol.LeaderNotAvailable {
		p.forget(p.config, p.owing(), out)
	}
}

// refused tries a request again if it may, and gives it up if not.
// Kafka: Sender.canRetry, completeBatch.
func (p *Producer) refused(now sim.Time, s sentBatch, e protocol.Error, logStart protocol.Offset, out *sim.Outbox) {
	trace.Emit(out, trace.Event{Kind: trace.ProduceRefused, Node: out.Node(), Peer: sim.NodeID(s.to), Partition: p.partition, Values: s.values, Error: e})
	again, e := p.retriable(&s.batch, e, logStart)
	if again && s.attempts <= p.retries {
		b := s.batch
		b.after, b.deadline = now+sim.Time(p.config.Settings.RetryBackoff), now+p.timeout
		p.requeue(b)
		return
	}
	trace.Emit(out, trace.Event{Kind: trace.RecordFailed, Node: out.Node(), Partition: p.partition, Values: s.values, Error: e})
	p.gaveUp(&s.batch, e, out)
}

// connectionLost: what was under way to a broker got no answer, and will get none.
func (p *Producer) connectionLost(now sim.Time, peer protocol.Broker, out *sim.Outbox) {
	p.giveUp(now, out, func(s *sentBatch) bool { return s.to == peer })
	p.locator.failed(peer)
	if p.leader == peer {
		p.forget(p.config, p.owing(), out)
	}
}

func (p *Producer) giveUp(now sim.Time, out *sim.Outbox, which func(*sentBatch) bool) {
	var lost []sentBatch
	p.sent = slices.DeleteFunc(p.sent, func(s sentBatch) bool {
		if which(&s) {
			lost = append(lost, s)
			return true
		}
		return false
	})
	slices.Reverse(lost) // each goes to the head of the queue
	for _, s := range lost {
		p.refused(now, s, protocol.NetworkException, protocol.NoOffset, out)
		p.locator.failed(s.to)
	}
	if len(lost) > 0 {
		p.forget(p.config, p.owing(), out)
	}
}

// expire gives up what has waited too long, in the queue or for an answer. A request
// without an answer takes what else is under way to the same broker with it: the
// connection is closed. Kafka: NetworkClient.handleTimedOutRequests.
func (p *Producer) expire(now sim.Time, out *sim.Outbox) {
	if p.timedOut(now) {
		p.forget(p.config, p.owing(), out)
	}
	var silent protocol.Brokers
	for i := range p.sent {
		if p.sent[i].deadline <= now {
			silent = silent.With(p.sent[i].to)
		}
	}
	p.giveUp(now, out, func(s *sentBatch) bool { return silent.Has(s.to) })
	p.queue = slices.DeleteFunc(p.queue, func(b batch) bool {
		if b.deadline > now {
			return false
		}
		trace.Emit(out, trace.Event{Kind: trace.RecordFailed, Node: out.Node(), Partition: p.partition, Values: b.values, Error: protocol.RequestTimedOut})
		p.expired(&b)
		return true
	})
}

// owing are the brokers that have not answered a request of this producer.
func (p *Producer) owing() protocol.Brokers {
	var owing protocol.Brokers
	for i := range p.sent {
		owing = owing.With(p.sent[i].to)
	}
	return owing
}

// Idle reports whether no record waits for its verdict; Streaming whether a stream runs.
func (p *Producer) IsIdempotent() bool { return p.idempotent }
func (p *Producer) Idle() bool         { return len(p.queue) == 0 && len(p.sent) == 0 }
func (p *Producer) Streaming() bool    { return p.every > 0 }

// Clone is an independent copy.
func (p *Producer) Clone(config *protocol.Config) *Producer {
	c := *p
	c.config = config
	c.queue, c.sent = slices.Clone(p.queue), slices.Clone(p.sent)
	return &c
}

// Describe adds the producer's visible state to a snapshot. What it has been told of
// its records is the ledger, which is kept by whoever folds the events.
func (p *Producer) Describe(id sim.NodeID, s *trace.Snapshot) {
	s.Producers = append(s.Producers, trace.ProducerState{Node: id, Partition: p.partition, Acks: p.acks, Every: p.every, Leader: p.learned, Idempotent: p.idempotent, ID: p.id})
}
