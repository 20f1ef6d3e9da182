package replica

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// fetcher pulls from one leader, with one request under way at a time.
// Kafka: AbstractFetcherThread and ReplicaFetcherThread, num.replica.fetchers=1.
type fetcher struct {
	leader     protocol.Broker
	partitions []fetchState // by partition
	inflight   sim.Seq      // 0 when nothing is under way
	asks       fetchPhase   // what the request under way is for
}

// fetchState is a partition in a fetcher.
type fetchState struct {
	id      protocol.Partition
	state   fetchPhase
	offset  protocol.Offset // to fetch from
	epoch   protocol.Epoch  // in which it follows
	delayed sim.Time        // no request before this time
	sent    bool            // is in the request under way
}

// fetchPhase is what a partition needs next.
type fetchPhase uint8

// The phases.
const (
	fetching       fetchPhase = iota
	truncating                // the end of its latest epoch at the leader
	askingLatest              // out of range: where does the leader's log end?
	askingEarliest            // and where does it begin?
)

// timer is the fetcher's only timer: the request's timeout or the end of a pause.
func (f *fetcher) timer() sim.TimerID { return timerFetcher + sim.TimerID(f.leader) }

func (m *Manager) fetcher(leader protocol.Broker) *fetcher {
	for i := range m.fetchers {
		if m.fetchers[i].leader == leader {
			return &m.fetchers[i]
		}
	}
	return nil
}

// Asked is the request to a leader that waits for its answer, 0 without one.
func (m *Manager) Asked(leader protocol.Broker) sim.Seq {
	if f := m.fetcher(leader); f != nil {
		return f.inflight
	}
	return 0
}

// follow adds a partition to the fetcher of its leader. A log without any leader epoch
// has nothing to ask the leader about and is cut to the HW, in the lines in which
// fetchers tell the two apart. Kafka: AbstractFetcherThread.fetchTruncatingPartitions.
func (m *Manager) follow(ctx coord.Context, p *Partition) {
	f := m.fetcher(p.leader)
	if f == nil {
		m.fetchers = append(m.fetchers, fetcher{leader: p.leader})
		slices.SortFunc(m.fetchers, func(a, b fetcher) int { return int(a.leader) - int(b.leader) })
		f = m.fetcher(p.leader)
	}
	s := fetchState{id: p.id, epoch: p.leaderEpoch, delayed: ctx.Now}
	switch rule := m.config.Rules.Truncation; {
	case rule == protocol.TruncateToHighWatermark || rule == protocol.TruncateNothing:
	case p.log.Epochs.Latest() == protocol.NoEpoch && rule != protocol.TruncateOneRound:
		m.truncate(ctx, p, p.hw, trace.ToHighWatermark)
	default:
		s.state = truncating
	}
	s.offset = p.log.LEO()
	f.partitions = append(f.partitions, s)
	slices.SortFunc(f.partitions, func(a, b fetchState) int { return int(a.id) - int(b.id) })
}

// unfollow takes a partition out of its fetcher. An idle fetcher is shut down; what
// it has under way is forgotten.
func (m *Manager) unfollow(ctx coord.Context, id protocol.Partition) {
	for i := range m.fetchers {
		f := &m.fetchers[i]
		f.partitions = slices.DeleteFunc(f.partitions, func(s fetchState) bool { return s.id == id })
	}
	m.fetchers = slices.DeleteFunc(m.fetchers, func(f fetcher) bool {
		if len(f.partitions) == 0 {
			ctx.Out.StopTimer(f.timer())
			return true
		}
		return false
	})
}

func (f *fetcher) find(id protocol.Partition) *fetchState {
	for i := range f.partitions {
		if f.partitions[i].id == id {
			return &f.partitions[i]
		}
	}
	return nil
}

func (m *Manager) pumpFetchers(ctx coord.Context) {
	for i := range m.fetchers {
		m.pump(ctx, &m.fetchers[i])
	}
}

// pump sends a fetcher's next request, if it has none under way and one to send.
// Kafka: AbstractFetcherThread.doWork: truncate first, then fetch.
func (m *Manager) pump(ctx coord.Context, f *fetcher) {
	if f.inflight != 0 {
		return
	}
	for _, phase := range []fetchPhase{truncating, askingLatest, askingEarliest, fetching} {
		if phase == fetching && m.heldFetches {
			continue
		}
		if n := f.mark(phase, ctx.Now); n > 0 {
			f.asks = phase
			m.request(ctx, f, n)
			ctx.Out.SetTimer(f.timer(), sim.Time(m.config.Settings.ReplicaSocketTimeout))
			return
		}
	}
	at := sim.Never
	for i := range f.partitions {
		if s := &f.partitions[i]; s.delayed > ctx.Now && !(s.state == fetching && m.heldFetches) {
			at = min(at, s.delayed)
		}
	}
	if at != sim.Never {
		ctx.Out.SetTimer(f.timer(), at-ctx.Now)
	}
}

// mark marks the partitions that go into the next request of a phase and counts them.
// ListOffsets is asked for one partition at a time.
func (f *fetcher) mark(phase fetchPhase, now sim.Time) int {
	n := 0
	for i := range f.partitions {
		s := &f.partitions[i]
		s.sent = s.state == phase && s.delayed <= now && (n == 0 || phase == truncating || phase == fetching)
		if s.sent {
			n++
		}
	}
	return n
}

func (m *Manager) request(ctx coord.Context, f *fetcher, n int) {
	var body any
	switch f.asks {
	case fetching:
		r := m.arenas.fetch.New()
		r.Replica, r.MaxWait = m.id, m.config.Settings.ReplicaFetchWaitMax
		r.Partitions = m.arenas.fetchParts.Slice(n)[:0]
		for i := range f.partitions {
			if s := &f.partitions[i]; s.sent {
				r.Partitions = append(r.Partitions, protocol.FetchPartition{Partition: s.id, Offset: s.offset, LeaderEpoch: m.fence(s.epoch)})
			}
		}
		body = r
	case truncating:
		r := &protocol.EpochRequest{Replica: m.id}
		for i := range f.partitions {
			if s := &f.partitions[i]; s.sent {
				r.Partitions = append(r.Partitions, protocol.EpochPartition{Partition: s.id, Epoch: m.partition(s.id).log.Epochs.Latest(), LeaderEpoch: m.fence(s.epoch)})
			}
		}
		body = r
	default:
		for i := range f.partitions {
			if s := &f.partitions[i]; s.sent {
				body = &protocol.OffsetsRequest{Replica: m.id, Partition: s.id, Latest: f.asks == askingLatest, LeaderEpoch: m.fence(s.epoch)}
			}
		}
	}
	f.inflight = ctx.Out.Request(sim.NodeID(f.leader), protocol.ForReplicas, body)
}

// fence is the leader epoch that a request carries, where the line carries one.
func (m *Manager) fence(e protocol.Epoch) protocol.Epoch {
	if m.config.Rules.FetchFencing {
		return e
	}
	return protocol.NoEpoch
}

// fireFetcher: the request under way has timed out, or a pause is over.
func (m *Manager) fireFetcher(ctx coord.Context, leader protocol.Broker) {
	f := m.fetcher(leader)
	if f == nil {
		return
	}
	if f.inflight != 0 {
		m.failFetcher(ctx, f)
	}
	m.pump(ctx, f)
}

// Closed tells that a leader closed the connection.
func (m *Manager) Closed(ctx coord.Context, peer protocol.Broker) {
	if f := m.fetcher(peer); f != nil && f.inflight != 0 {
		m.failFetcher(ctx, f)
		m.pump(ctx, f)
	}
}

// failFetcher gives the request under way up and pauses its partitions.
func (m *Manager) failFetcher(ctx coord.Context, f *fetcher) {
	f.inflight = 0
	for i := range f.partitions {
		if s := &f.partitions[i]; s.sent {
			s.sent = false
			m.delay(ctx, s)
		}
	}
}

// delay pauses a partition after an error: replica.fetch.backoff.ms.
func (m *Manager) delay(ctx coord.Context, s *fetchState) {
	s.delayed = ctx.Now + sim.Time(m.config.Settings.ReplicaFetchBackoff)
}

// fetcherAnswer handles the answer to a fetcher's request. Late ones find nothing.
func (m *Manager) fetcherAnswer(ctx coord.Context, msg *sim.Message) {
	f := m.fetcher(protocol.Broker(msg.From))
	if f == nil || f.inflight == 0 || f.inflight != msg.InReplyTo {
		return
	}
	f.inflight = 0
	switch a := msg.Body.(type) {
	case *protocol.FetchAnswer:
		for i := range a.Partitions {
			m.fetchAnswer(ctx, f, &a.Partitions[i])
		}
	case *protocol.EpochAnswer:
		for i := range a.Partitions {
			m.epochAnswer(ctx, f, &a.Partitions[i])
		}
	case *protocol.OffsetsAnswer:
		m.offsetsAnswer(ctx, f, a)
	}
	f = m.fetcher(protocol.Broker(msg.From))
	if f != nil {
		m.pump(ctx, f)
	}
}

// fetchAnswer appends what came for one partition, if it is still what was asked for.
// Kafka: ReplicaFetcherThread.processPartitionData.
func (m *Manager) fetchAnswer(ctx coord.Context, f *fetcher, a *protocol.FetchAnswerPartition) {
	s := f.find(a.Partition)
	if s == nil || s.state != fetching || s.offset != a.Offset || !s.sent {
		return
	}
	s.sent = false
	p := m.partition(a.Partition)
	if a.Error != protocol.None {
		m.fetchError(ctx, f, s, a.Error)
		return
	}
	if a.HW == protocol.NoOffset {
		return // not assigned to us, says the leader
	}
	if len(a.Records) > 0 {
		m.appended(ctx, p, p.log.Append(int64(ctx.Now), a.Records))
		if a.Batches != nil {
			p.log.AddBatches(*a.Batches)
		}
		s.offset = p.log.LEO()
	}
	if hw := min(p.log.LEO(), a.HW); hw != p.hw {
		m.setHW(ctx, p, hw)
	}
	if m.config.Rules.FollowersTrimWithLeader {
		m.trim(ctx, p, a.LogStart)
	}
}

// fetchError decides what to do after an error. Kafka: AbstractFetcherThread.processFetchRequest.
func (m *Manager) fetchError(ctx coord.Context, f *fetcher, s *fetchState, e protocol.Error) {
	switch e {
	case protocol.OffsetOutOfRange:
		s.state = askingLatest
	case protocol.FencedLeaderEpoch:
		if p := m.partition(s.id); p.leaderEpoch == s.epoch {
			m.unfollow(ctx, s.id) // wait for the controller
			return
		}
		m.delay(ctx, s)
	default:
		m.delay(ctx, s)
	}
}

// epochAnswer truncates to where the follower's history and the leader's part.
// Kafka: AbstractFetcherThread.getOffsetTruncationState.
func (m *Manager) epochAnswer(ctx coord.Context, f *fetcher, a *protocol.EpochAnswerPartition) {
	s := f.find(a.Partition)
	if s == nil || s.state != truncating || !s.sent {
		return
	}
	s.sent = false
	p := m.partition(a.Partition)
	if m.config.Rules.Truncation == protocol.TruncateFenced && s.epoch != p.leaderEpoch {
		return
	}
	if a.Error != protocol.None {
		m.fetchError(ctx, f, s, a.Error)
		return
	}
	to, done := m.truncationPoint(p, a)
	how := trace.ToEpochEnd
	if a.EndOffset == protocol.NoOffset {
		how = trace.ToHighWatermark // the leader does not know
	}
	m.truncate(ctx, p, to, how)
	if !done {
		return // ask again, with what is now the latest epoch
	}
	if s := f.find(a.Partition); s != nil {
		s.state, s.offset = fetching, p.log.LEO()
	}
}

// truncationPoint is where to cut, and whether that settles it.
func (m *Manager) truncationPoint(p *Partition, a *protocol.EpochAnswerPartition) (protocol.Offset, bool) {
	leo := p.log.LEO()
	if a.EndOffset == protocol.NoOffset {
		return p.hw, true
	}
	if m.config.Rules.Truncation == protocol.TruncateOneRound || a.Epoch == protocol.NoEpoch {
		return min(a.EndOffset, leo), true
	}
	epoch, end := p.log.Epochs.EndOffsetFor(a.Epoch, leo)
	switch {
	case end == protocol.NoOffset: // nothing known that old: the leader's word counts
		return min(a.EndOffset, leo), true
	case epoch != a.Epoch: // the leader's epoch is not known here: cut to the end of the one before, ask again
		return min(end, leo), false
	}
	return min(end, a.EndOffset, leo), true
}

// offsetsAnswer handles an offset out of range. Kafka: ReplicaFetcherThread.fetchOffsetAndTruncate.
func (m *Manager) offsetsAnswer(ctx coord.Context, f *fetcher, a *protocol.OffsetsAnswer) {
	s := f.find(a.Partition)
	if s == nil || !s.sent {
		return
	}
	s.sent = false
	if a.Error != protocol.None {
		m.fetchError(ctx, f, s, a.Error)
		return
	}
	p := m.partition(a.Partition)
	leo := p.log.LEO()
	drops := m.config.Rules.OutOfRangeDropsLog
	switch {
	case a.Latest && a.Offset < leo:
		if m.config.Rules.HaltOnTruncation && !m.config.Settings.Unclean(m.topic(p.id)) {
			// "log truncation is not allowed": the broker halts rather than lose what it
			// has (until KAFKA-7414).
			trace.Emit(ctx.Out, trace.Event{Kind: trace.BrokerStopped, Node: m.node(), How: trace.Halted})
			ctx.Out.Exit()
			m.fetchers = nil
			return
		}
		m.truncate(ctx, p, a.Offset, trace.ToLeaderEnd)
		s.state, s.offset = fetching, p.log.LEO()
	case a.Latest:
		s.state = askingEarliest
	default:
		if a.Offset > leo || drops {
			m.restart(ctx, p, a.Offset)
		}
		s.state, s.offset = fetching, p.log.LEO()
	}
}

// restart drops a log that ends before the leader's begins.
// Kafka: Log.truncateFullyAndStartAt.
func (m *Manager) restart(ctx coord.Context, p *Partition, at protocol.Offset) {
	p.log.Restart(at)
	trace.Emit(ctx.Out, trace.Event{Kind: trace.LogRestarted, Node: m.node(), Partition: p.id, Offset: at})
	if m.config.Rules.FullTruncationRaisesHW || p.hw > at {
		m.setHW(ctx, p, at)
	}
}
