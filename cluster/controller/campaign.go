package controller

import (
	"strconv"

	"tidemark/cluster/coord"
	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// The phases of a campaign.
const (
	campaignLook = iota // who is the controller?
	campaignLooked
	campaignRead    // the epoch, before the one transaction that takes both (2.1)
	campaignTaken   // the transaction is answered
	campaignCreated // before 2.1: /controller is answered, the epoch still to come
	campaignEpoch   // the epoch is read
	campaignRaised  // and written
)

// campaign finds out who the controller is, and tries to become it when there is none.
// Kafka: KafkaController.elect; before 2.1 ZookeeperLeaderElector.elect and
// KafkaController.incrementControllerEpoch.
func (c *Controller) campaign(ctx coord.Context, t *task) (bool, []task) {
	atomic := c.config.Rules.ControllerEpochFence
	readEpoch := []coord.Op{{Kind: coord.Get, Path: coord.ControllerEpochPath}}
	take := coord.Op{Kind: coord.Create, Path: coord.ControllerPath, Data: coord.EncodeController(c.id, ctx.Now), Ephemeral: true}
	switch t.phase {
	case campaignLook:
		t.phase = campaignLooked
		c.ask(ctx, []coord.Op{{Kind: coord.Exists, Path: coord.ControllerPath, Watch: true}, {Kind: coord.Get, Path: coord.ControllerPath}})
		return true, nil
	case campaignLooked:
		a := c.answers[1]
		switch {
		case a.Err == coord.NoNode && c.active:
			// Its own znode is gone: somebody ended the reign.
			c.resign(ctx)
			c.events = append(c.events, event{kind: onCampaign})
			return false, nil
		case a.Err == coord.NoNode && atomic:
			t.phase = campaignRead
			c.ask(ctx, readEpoch)
			return true, nil
		case a.Err == coord.NoNode:
			t.phase = campaignCreated
			c.ask(ctx, []coord.Op{take})
			return true, nil
		case coord.DecodeController(a.Data) == c.id && a.Stat.Owner == ctx.Session.ID() && !c.active:
			// The znode is its own: an answer was lost on the way.
			t.phase = campaignEpoch
			c.ask(ctx, readEpoch)
			return true, nil
		case coord.DecodeController(a.Data) != c.id && c.active:
			c.resign(ctx)
			return false, nil
		}
		t.phase = done
	case campaignRead:
		t.phase = campaignTaken
		epoch, version, write := c.nextEpoch(&c.answers[0])
		c.epoch, c.epochVersion = epoch, version
		c.ask(ctx, []coord.Op{{Kind: coord.Multi, Ops: []coord.Op{take, write}}})
		return true, nil
	case campaignTaken:
		if c.answers[0].Err == coord.OK {
			return false, c.win(ctx, t)
		}
		t.phase = campaignLook
	case campaignCreated:
		if c.answers[0].Err != coord.OK {
			t.phase = campaignLook
			return false, nil
		}
		t.phase = campaignEpoch
		c.ask(ctx, readEpoch)
		return true, nil
	case campaignEpoch:
		t.phase = campaignRaised
		epoch, version, write := c.nextEpoch(&c.answers[0])
		c.epoch, c.epochVersion = epoch, version
		c.ask(ctx, []coord.Op{write})
		return true, nil
	case campaignRaised:
		if c.answers[0].Err == coord.OK {
			return false, c.win(ctx, t)
		}
		t.phase = campaignLook // somebody else wrote it, or this write's first answer was lost
	}
	return false, nil
}

// nextEpoch is the epoch of the reign to come, the version its znode will have, and
// the write that puts it there.
func (c *Controller) nextEpoch(a *coord.Answer) (protocol.Epoch, int32, coord.Op) {
	if a.Err == coord.NoNode {
		return 1, 0, coord.Op{Kind: coord.Create, Path: coord.ControllerEpochPath, Data: "1"}
	}
	n, _ := strconv.Atoi(a.Data)
	epoch := protocol.Epoch(n + 1)
	return epoch, a.Stat.Version + 1, coord.Op{Kind: coord.SetData, Path: coord.ControllerEpochPath, Data: strconv.Itoa(int(epoch)), Version: a.Stat.Version}
}

func (c *Controller) win(ctx coord.Context, t *task) []task {
	t.phase = done
	c.active = true
	trace.Because(ctx.Out, trace.Emit(ctx.Out, trace.Event{Kind: trace.ControllerElected, Node: c.node(), ControllerEpoch: c.epoch}))
	return []task{{kind: failover}}
}
