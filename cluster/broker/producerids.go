package broker

import (
	"slices"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// producerIDs hands out producer ids, each once in a cluster: from a block that the broker
// has claimed in ZooKeeper. Kafka: ProducerIdManager.
type producerIDs struct {
	next, end protocol.ProducerID // what is left of the block, end excluded
	waiting   []sim.Message       // requests for ids, in order
	claiming  bool                // an operation is under way
	claim     protocol.ProducerID // the first of the block that is being claimed
	claimed   string              // what was written for it, perhaps without an answer; empty: nothing
}

// producerIDBlock is the size of a block. Kafka: ProducerIdManager.PidBlockSize.
const producerIDBlock = 1000

// initProducerID answers with a new producer id, once there is one. Differs: a broker of
// Kafka claims its first block of producer ids when it starts, and here when it is first
// asked for one.
func (b *broker) initProducerID(ctx coord.Context, msg *sim.Message) {
	b.producerIDs.waiting = append(b.producerIDs.waiting, *msg)
	b.serveProducerIDs(ctx)
}

func (b *broker) serveProducerIDs(ctx coord.Context) {
	p := &b.producerIDs
	for len(p.waiting) > 0 && p.next < p.end {
		ctx.Out.Reply(&p.waiting[0], &protocol.InitProducerIDAnswer{Producer: p.next})
		p.next++
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
	if len(p.waiting) > 0 && !p.claiming {
		p.claiming = true
		b.submit(ctx, tagReadBlock, coord.Op{Kind: coord.Get, Path: coord.ProducerIDBlockPath})
	}
}

// producerIDBlockAnswer goes on with claiming a block: the one after the latest, if nobody
// else claims it first. A write whose answer was lost is found by what is in the znode.
func (b *broker) producerIDBlockAnswer(ctx coord.Context, tag coord.Tag, a *coord.Answer) {
	p := &b.producerIDs
	mine := tag.What == tagReadBlock && a.Err == coord.OK && a.Data == p.claimed
	switch {
	case mine, tag.What == tagClaimBlock && a.Err == coord.OK:
		p.next, p.end = p.claim, p.claim+producerIDBlock
		p.claimed, p.claiming = "", false
		b.serveProducerIDs(ctx)
		return
	case tag.What == tagClaimBlock:
		b.submit(ctx, tagReadBlock, coord.Op{Kind: coord.Get, Path: coord.ProducerIDBlockPath})
		return
	}
	op := coord.Op{Kind: coord.Create, Path: coord.ProducerIDBlockPath}
	p.claim = 0
	if a.Err == coord.OK {
		last, err := coord.DecodeProducerIDBlock(a.Data)
		if err != nil {
			return // not Kafka's: nobody gets an id, as there
		}
		op.Kind, op.Version, p.claim = coord.SetData, a.Stat.Version, last+1
	}
	p.claimed = coord.EncodeProducerIDBlock(b.id, p.claim, p.claim+producerIDBlock-1)
	op.Data = p.claimed
	b.submit(ctx, tagClaimBlock, op)
}

// reclaim begins again: what was under way at ZooKeeper is lost with the session.
func (b *broker) reclaim(ctx coord.Context) {
	b.producerIDs.claiming = false
	b.serveProducerIDs(ctx)
}
