package script

import (
	"slices"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// event is what an event's form matches.
type event struct {
	match func(v *view, a []any, n *note) bool
	// times is the argument that says how often it must match, −1: once.
	times int
}

// needed is how often the event must have matched.
func (e *event) needed(a []any) int {
	if e.times >= 0 && a[e.times] != nil {
		return a[e.times].(int)
	}
	return 1
}

func happened(text, doc string, match func(v *view, a []any, n *note) bool) form {
	return form{text: text, doc: doc, event: &event{match: match, times: -1}}
}

// of makes an event of one kind.
func of(kind trace.Kind, text, doc string, match func(v *view, a []any, e *trace.Event) bool) form {
	return happened(text, doc, func(v *view, a []any, n *note) bool {
		return n.event.Kind == kind && match(v, a, &n.event)
	})
}

// isr makes an event of a change of an ISR in ZooKeeper, where the ISR is kept: the
// writer learns a hop later that it succeeded.
func isr(text, doc string, match func(v *view, a []any, c isrChange) bool) form {
	return happened(text, doc, func(v *view, a []any, n *note) bool {
		return n.isr.partition != protocol.NoPartition && match(v, a, n.isr)
	})
}

// sent makes an event of the sending of a message.
func sent[B protocol.Body](text, doc string, from, to int, match func(v *view, a []any, body B) bool) form {
	return of(trace.MessageSent, text, doc, func(v *view, a []any, e *trace.Event) bool {
		body, ok := e.Body.(B)
		return ok && isNode(v, a[from], e.Node) && isNode(v, a[to], e.Peer) && match(v, a, body)
	})
}

// isNode reports whether an argument names a node. A nil one names any.
func isNode(v *view, arg any, id sim.NodeID) bool {
	switch x := arg.(type) {
	case protocol.Broker:
		return x == anyBroker || sim.NodeID(x) == id
	case string:
		return v.node(x) == id
	}
	return arg == nil
}

func isPartition(v *view, arg any, p protocol.Partition) bool {
	have, ok := v.partition(arg.(protocol.TopicPartition))
	return ok && have == p
}

// isSet reports whether an ISR is the set of brokers named, or none are named.
func isSet(arg any, s protocol.Brokers) bool {
	return arg == nil || protocol.BrokersOf(arg.([]protocol.Broker)...) == s
}

func makeEvents() []form {
	anyFetch := func(*view, []any, *protocol.Fetch) bool { return true }
	hasValue := func(v *view, value any, records []protocol.Record) bool {
		want, known := v.names.Values.Find(value.(string))
		for i := range records {
			if known && records[i].Value == want {
				return true
			}
		}
		return false
	}
	changed := isr("ISR of <partition> changed [at least <number> times]", "the list in ZooKeeper, whoever changed it", func(v *view, a []any, c isrChange) bool {
		return isPartition(v, a[0], c.partition)
	})
	changed.event.times = 1
	return []form{
		of(trace.SessionExpired, "session of <some> expired", "ZooKeeper ended it", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Peer)
		}),
		of(trace.LeaderElected, "controller <broker> elected <broker> for <partition>", "", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node) && a[1].(protocol.Broker) == e.Leader && isPartition(v, a[2], e.Partition)
		}),
		happened("controller moved to <broker>", "the znode names it: it won the election", func(v *view, a []any, n *note) bool {
			e := &n.event
			if (e.Kind != trace.ZnodeCreated && e.Kind != trace.ZnodeChanged) || e.Path != "/controller" {
				return false
			}
			id, err := controllerID(e.Text)
			return err == nil && id == a[0].(protocol.Broker)
		}),
		of(trace.LeaderElected, "unclean election of <partition>", "of a replica outside the ISR", func(v *view, a []any, e *trace.Event) bool {
			return e.How == trace.Uncleanly && isPartition(v, a[0], e.Partition)
		}),
		isr("leader <broker> shrank ISR of <partition> [to <brokers>]", "followers lagged; it is in ZooKeeper", func(v *view, a []any, c isrChange) bool {
			return c.leader == a[0].(protocol.Broker) && c.shrank() && isPartition(v, a[1], c.partition) && isSet(a[2], c.is)
		}),
		isr("leader <broker> expanded ISR of <partition> [to <brokers>]", "a follower caught up; it is in ZooKeeper", func(v *view, a []any, c isrChange) bool {
			return c.leader == a[0].(protocol.Broker) && c.expanded() && isPartition(v, a[1], c.partition) && isSet(a[2], c.is)
		}),
		isr("controller shrank ISR of <partition> [to <brokers>]", "a broker is gone; an election can do it too", func(v *view, a []any, c isrChange) bool {
			return c.leader == protocol.NoBroker && c.shrank() && isPartition(v, a[0], c.partition) && isSet(a[1], c.is)
		}),
		changed,
		happened("<some> truncated a committed record of <partition>", "one that the acting leader's HW had passed", func(v *view, a []any, n *note) bool {
			return n.cutCommitted && isNode(v, a[0], n.event.Node) && isPartition(v, a[1], n.event.Partition)
		}),
		of(trace.LogTruncated, "<some> truncated <partition> [to <number>]", "the end of its log was cut off; the number is the new LEO", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node) && isPartition(v, a[1], e.Partition) && (a[2] == nil || protocol.Offset(a[2].(int)) == e.Offset)
		}),
		sent("fetch from <broker> to <broker> at <number>", "a follower's, sent", 0, 1, func(v *view, a []any, f *protocol.Fetch) bool {
			for i := range f.Partitions {
				if f.Partitions[i].Offset == protocol.Offset(a[2].(int)) {
					return true
				}
			}
			return false
		}),
		sent("fetch from <broker> to <broker>", "a follower's, sent", 0, 1, anyFetch),
		sent("fetch from <reader> to <broker>", "a consumer's, sent", 0, 1, anyFetch),
		of(trace.RecordRead, "<reader> got <value>", "in the answer to a fetch", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node) && hasValue(v, a[1], e.Records)
		}),
		of(trace.ReadNothing, "<reader> got nothing", "the answer to its fetch was empty", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node)
		}),
		sent("epoch request from <broker> to <broker>", "sent", 0, 1, func(*view, []any, *protocol.EpochRequest) bool { return true }),
		sent("produce from <producer> to <broker>", "sent", 0, 1, func(*view, []any, *protocol.Produce) bool { return true }),
		sent("metadata from <broker> to <client> with ISR <brokers> of <partition>", "the answer to a client, sent: what that broker believes", 0, 1, func(v *view, a []any, m *protocol.MetadataAnswer) bool {
			return slices.ContainsFunc(m.Partitions, func(p protocol.PartitionMetadata) bool {
				return isPartition(v, a[3], p.Partition) && isSet(a[2], p.ISR)
			})
		}),
		of(trace.LeaderLearned, "<client> learned leader <broker> of <partition>", "from an answer to its metadata request", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node) && a[1].(protocol.Broker) == e.Leader && isPartition(v, a[2], e.Partition)
		}),
		of(trace.BrokerStopped, "<some> stopped", "its process ended, in whatever way", func(v *view, a []any, e *trace.Event) bool { return isNode(v, a[0], e.Node) }),
		of(trace.BrokerStarted, "<some> started", "its process was started", func(v *view, a []any, e *trace.Event) bool { return isNode(v, a[0], e.Node) }),
		of(trace.BrokerStopped, "<some> lost power", "", func(v *view, a []any, e *trace.Event) bool {
			return e.How == trace.LostPower && isNode(v, a[0], e.Node)
		}),
		of(trace.BrokerStopped, "<some> halted", "it stopped itself", func(v *view, a []any, e *trace.Event) bool {
			return e.How == trace.Halted && isNode(v, a[0], e.Node)
		}),
		of(trace.BrokerThawed, "<some> thawed [after >= <duration>]", "its pause ended", func(v *view, a []any, e *trace.Event) bool {
			return isNode(v, a[0], e.Node) && (a[1] == nil || e.At >= a[1].(sim.Time))
		}),
		of(trace.ISRUpdateRefused, "ISR update of <some> refused", "version clash in ZooKeeper", func(v *view, a []any, e *trace.Event) bool { return isNode(v, a[0], e.Node) }),
		of(trace.ISRUpdateBlocked, "ISR update of <some> blocked", "no answer from ZooKeeper", func(v *view, a []any, e *trace.Event) bool { return isNode(v, a[0], e.Node) }),
		of(trace.RegistrationRefused, "registration of <some> refused", "its old session still lives", func(v *view, a []any, e *trace.Event) bool { return isNode(v, a[0], e.Node) }),
		of(trace.ControlRejected, "request of <some> rejected as stale controller epoch", "a deposed controller's", func(v *view, a []any, e *trace.Event) bool {
			return e.Error == protocol.StaleControllerEpoch && isNode(v, a[0], e.Peer)
		}),
		of(trace.FetchRejected, "fetch of <some> rejected as fenced", "its leader epoch is not the leader's", func(v *view, a []any, e *trace.Event) bool {
			return e.Error == protocol.FencedLeaderEpoch && isNode(v, a[0], e.Peer)
		}),
		of(trace.DuplicateRecognised, "<some> recognised duplicate <value>", "of an idempotent producer: it is in the log already", func(v *view, a []any, e *trace.Event) bool {
			want, known := v.names.Values.Find(a[1].(string))
			return known && isNode(v, a[0], e.Node) && slices.Contains(e.Values, want)
		}),
	}
}

// anyBroker is what "any broker" reads as.
const anyBroker protocol.Broker = 0

// readSome reads "broker 3" or "any broker".
func readSome(p *parser) (any, bool) {
	t := p.peek()
	if t.kind != word || t.text != "broker" && t.text != "any" {
		return nil, p.fail("", "broker", "any")
	}
	p.take()
	if t.text == "broker" {
		return readBroker(p)
	}
	if t := p.peek(); t.kind != word || t.text != "broker" {
		return nil, p.fail("", "broker")
	}
	p.take()
	return anyBroker, true
}

func writeSome(v any) string {
	if b := v.(protocol.Broker); b != anyBroker {
		return "broker " + writeBroker(b)
	}
	return "any broker"
}
