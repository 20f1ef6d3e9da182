package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// truth has three values: a condition that needs an acting leader while there is
// none is neither true nor is its opposite.
type truth uint8

const (
	no truth = iota
	yes
	undefined
)

// answer is a condition's truth and what is the case, in words for someone who
// expected something else.
type answer struct {
	truth truth
	fact  string
}

// condition is what a condition's form does.
type condition struct {
	evaluate func(v *view, a []any) answer
}

// evaluate answers a condition, its "not" included.
func (ph phrase) evaluate(v *view) answer {
	a := ph.form.condition.evaluate(v, ph.args)
	if ph.not && a.truth != undefined {
		a.truth = yes - a.truth
	}
	return a
}

// evaluateAll answers conditions with "and" between; the fact is that of the first
// that is not true.
func evaluateAll(v *view, l []phrase) answer {
	for _, ph := range l {
		if a := ph.evaluate(v); a.truth != yes {
			return a
		}
	}
	return answer{truth: yes}
}

func is(b bool, format string, a ...any) answer {
	x := answer{fact: fmt.Sprintf(format, a...)}
	if b {
		x.truth = yes
	}
	return x
}

func unknown(format string, a ...any) answer {
	return answer{undefined, fmt.Sprintf(format, a...)}
}

func cond(text, doc string, f func(v *view, a []any) answer) form {
	return form{text: text, doc: doc, condition: &condition{f}}
}

// about makes a condition on a partition, its first argument of that type.
func about(text, doc string, f func(v *view, p protocol.Partition, a []any) answer) form {
	return cond(text, doc, func(v *view, a []any) answer {
		for _, x := range a {
			if tp, ok := x.(protocol.TopicPartition); ok {
				p, ok := v.partition(tp)
				if !ok {
					return unknown("there is no partition %s yet", tp)
				}
				return f(v, p, a)
			}
		}
		panic("script: condition without a partition: " + text)
	})
}

// led makes a condition that needs the partition's acting leader.
func led(text, doc string, f func(v *view, r *trace.ReplicaState, a []any) answer) form {
	return about(text, doc, func(v *view, p protocol.Partition, a []any) answer {
		r := v.acting(p)
		if r == nil {
			return unknown("%s", v.noLeader(p))
		}
		return f(v, r, a)
	})
}

// znoded makes a condition on a partition's state in ZooKeeper.
func znoded(text, doc string, f func(v *view, p protocol.Partition, z *znodeState, a []any) answer) form {
	return about(text, doc, func(v *view, p protocol.Partition, a []any) answer {
		z := v.znode(p)
		if z == nil {
			return unknown("%s", v.noLeader(p))
		}
		return f(v, p, z, a)
	})
}

// onBroker makes a condition on the replica of a partition on a broker.
func onBroker(text, doc string, f func(v *view, r *trace.ReplicaState, a []any) answer) form {
	return about(text, doc, func(v *view, p protocol.Partition, a []any) answer {
		b := argBroker(a)
		r := v.replica(b, p)
		if r == nil {
			return unknown("broker %d has no replica of %s", b, v.names.Partition(p))
		}
		return f(v, r, a)
	})
}

// fated makes a condition on a record's line in the ledger.
func fated(text, doc string, f func(r *trace.RecordState) bool) form {
	return cond(text, doc, func(v *view, a []any) answer {
		r := v.record(a[0].(string))
		if r == nil {
			return is(false, "record %q has not been sent", a[0])
		}
		return is(f(r), "record %q is %s", a[0], fateWords(r))
	})
}

func argBroker(a []any) protocol.Broker {
	for _, x := range a {
		if b, ok := x.(protocol.Broker); ok {
			return b
		}
	}
	panic("script: condition without a broker")
}

func fateWords(r *trace.RecordState) string {
	switch r.Fate {
	case trace.Queued:
		if r.Error != protocol.None {
			return "to be sent again after " + r.Error.String()
		}
		return "waiting in the producer"
	case trace.Sent:
		return "sent and unanswered"
	case trace.Assumed:
		return "assumed (acks 0: nobody will answer)"
	case trace.Failed:
		return "failed with " + r.Error.String()
	}
	return r.Fate.String()
}

func toldSuccess(r *trace.RecordState) bool { return r.Fate == trace.Acked || r.Fate == trace.Assumed }

func makeConditions() []form {
	return slices.Concat(processConditions(), partitionConditions(), logConditions(), recordConditions(), clientConditions(), otherConditions())
}

func processConditions() []form {
	states := func(v *view, brokers []protocol.Broker, want string) answer {
		for _, b := range brokers {
			x := v.state.Broker(sim.NodeID(b))
			if x == nil {
				return unknown("there is no broker %d", b)
			}
			if have := processWord(x.State); have != want {
				return is(false, "broker %d is %s", b, have)
			}
		}
		return is(true, "%s %s", writeBrokers(brokers), want)
	}
	return []form{
		cond("broker <broker> is up|down|frozen", "what its process does", func(v *view, a []any) answer {
			return states(v, []protocol.Broker{a[0].(protocol.Broker)}, a[1].(string))
		}),
		cond("brokers <brokers> are up|down|frozen", "the same of several", func(v *view, a []any) answer {
			return states(v, a[0].([]protocol.Broker), a[1].(string))
		}),
		cond("controller is <broker>", "content of the znode", func(v *view, a []any) answer {
			z := v.state.Znode("/controller")
			if z == nil {
				return is(false, "there is no controller")
			}
			id, err := controllerID(z.Data)
			if err != nil {
				return unknown("/controller holds %q", z.Data)
			}
			return is(id == a[0].(protocol.Broker), "the controller is %d", id)
		}),
		cond("controller epoch is <bound>", "content of the znode", func(v *view, a []any) answer {
			z := v.state.Znode("/controller_epoch")
			if z == nil {
				return unknown("there is no controller epoch yet")
			}
			n, err := strconv.Atoi(strings.TrimSpace(z.Data))
			if err != nil {
				return unknown("/controller_epoch holds %q", z.Data)
			}
			return is(a[0].(bound).holds(n), "the controller epoch is %d", n)
		}),
		cond("broker <broker> believes it is controller", "its own role, whatever the znode says", func(v *view, a []any) answer {
			x := v.state.Broker(sim.NodeID(a[0].(protocol.Broker)))
			if x == nil {
				return unknown("there is no broker %d", a[0])
			}
			if x.Controller {
				return is(true, "broker %d believes it is controller", a[0])
			}
			return is(false, "broker %d does not believe it is controller", a[0])
		}),
		onBroker("broker <broker> believes it leads <partition>", "its own role, whatever the znode says", func(v *view, r *trace.ReplicaState, a []any) answer {
			role := "does not lead or follow"
			switch r.Role {
			case trace.RoleLeader:
				role = "leads"
			case trace.RoleFollower:
				role = fmt.Sprintf("follows %d in", r.Leader)
			}
			return is(r.Role == trace.RoleLeader, "broker %d believes it %s %s", a[0], role, a[1])
		}),
	}
}

// controllerID reads the data of /controller.
func controllerID(data string) (protocol.Broker, error) {
	var j struct {
		ID protocol.Broker `json:"brokerid"`
	}
	err := json.Unmarshal([]byte(data), &j)
	return j.ID, err
}

func partitionConditions() []form {
	return []form{
		led("<partition> leader is <broker>", "ZooKeeper names it and it acts as leader of that epoch", func(v *view, r *trace.ReplicaState, a []any) answer {
			return is(protocol.Broker(r.Broker) == a[1].(protocol.Broker), "%s leader is %d", a[0], r.Broker)
		}),
		znoded("<partition> is offline", "ZooKeeper names no leader", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			if z.Leader == protocol.NoBroker {
				return is(true, "%s is offline", a[0])
			}
			return is(false, "%s is not offline: ZooKeeper names %d as its leader", a[0], z.Leader)
		}),
		znoded("<partition> ISR is <brokers>", "ZooKeeper's list, as a set", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			return is(z.ISR == protocol.BrokersOf(a[1].([]protocol.Broker)...), "%s ISR is %s", a[0], z.ISR)
		}),
		znoded("<partition> ISR includes <brokers>", "those and maybe more", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			return is(protocol.BrokersOf(a[1].([]protocol.Broker)...)&^z.ISR == 0, "%s ISR is %s", a[0], z.ISR)
		}),
		znoded("<partition> ISR size is <bound>", "how many ZooKeeper lists", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			return is(a[1].(bound).holds(z.ISR.Len()), "%s ISR is %s, of size %d", a[0], z.ISR, z.ISR.Len())
		}),
		znoded("<partition> is fully replicated", "the ISR equals the assignment", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			set := v.state.Partitions[p].Replicas.Set()
			return is(z.ISR == set, "%s ISR is %s of the assigned %s", a[0], z.ISR, set)
		}),
		znoded("<partition> is under-replicated", "the ISR is smaller than the assignment", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			set := v.state.Partitions[p].Replicas.Set()
			return is(z.ISR.Len() < set.Len(), "%s ISR is %s of the assigned %s", a[0], z.ISR, set)
		}),
		led("<partition> HW is <bound>", "the acting leader's; the first offset that is not committed", func(v *view, r *trace.ReplicaState, a []any) answer {
			return is(a[1].(bound).holds(int(r.HW)), "%s HW is %d", a[0], r.HW)
		}),
		znoded("leader epoch of <partition> is <bound>", "ZooKeeper's", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			return is(a[1].(bound).holds(int(z.LeaderEpoch)), "leader epoch of %s is %d", a[0], z.LeaderEpoch)
		}),
		znoded("leader epoch of <partition> rose", "since the start, the last mark or rewind, or the start of a lesson's step", func(v *view, p protocol.Partition, z *znodeState, a []any) answer {
			base, ok := v.facts.epochs[p]
			return is(ok && z.LeaderEpoch > base, "leader epoch of %s is %d, it was %d", a[0], z.LeaderEpoch, base)
		}),
	}
}

func logConditions() []form {
	return []form{
		onBroker("HW of <partition> on <broker> is <bound>", "that replica's; of a stopped broker, that in its checkpoint file", func(v *view, r *trace.ReplicaState, a []any) answer {
			return is(a[2].(bound).holds(int(r.HW)), "HW of %s on %d is %d", a[0], a[1], r.HW)
		}),
		onBroker("LEO of <partition> on <broker> is <bound>", "the next offset to be written", func(v *view, r *trace.ReplicaState, a []any) answer {
			return is(a[2].(bound).holds(int(r.LEO())), "LEO of %s on %d is %d", a[0], a[1], r.LEO())
		}),
		led("LEO of <partition> on <broker> is behind by <bound>", "distance to the acting leader's", func(v *view, leader *trace.ReplicaState, a []any) answer {
			r := v.replica(a[1].(protocol.Broker), leader.Partition)
			if r == nil {
				return unknown("broker %d has no replica of %s", a[1], a[0])
			}
			n := int(leader.LEO() - r.LEO())
			return is(a[2].(bound).holds(n), "LEO of %s on %d is %d, behind %d's by %d", a[0], a[1], r.LEO(), leader.Broker, n)
		}),
		onBroker("log of <partition> on <broker> is empty", "it has no records", func(v *view, r *trace.ReplicaState, a []any) answer {
			return is(len(r.Records) == 0, "log of %s on %d is %s", a[0], a[1], valuesText(v.names, r.Records))
		}),
		onBroker("log of <partition> on <broker> is <values>", "exactly those, in order", func(v *view, r *trace.ReplicaState, a []any) answer {
			want := a[2].([]string)
			same := len(want) == len(r.Records)
			for i := 0; same && i < len(want); i++ {
				same = v.names.Values.Text(r.Records[i].Value) == want[i]
			}
			return is(same, "log of %s on %d is %s", a[0], a[1], valuesText(v.names, r.Records))
		}),
		about("logs of <partition> are identical", "live replicas have the same records at the offsets that both have", func(v *view, p protocol.Partition, a []any) answer {
			at, x, y, differ := v.divergence(p)
			if !differ {
				return is(true, "logs of %s are identical", a[0])
			}
			return is(false, "logs of %s diverge at %d, on %d and %d", a[0], at, x, y)
		}),
		about("logs of <partition> diverge at <number>", "the first offset at which they differ", func(v *view, p protocol.Partition, a []any) answer {
			at, x, y, differ := v.divergence(p)
			if !differ {
				return is(false, "logs of %s are identical", a[0])
			}
			return is(int(at) == a[1].(int), "logs of %s diverge at %d, on %d and %d", a[0], at, x, y)
		}),
	}
}

// divergence is the first offset at which the logs of two live replicas differ.
func (v *view) divergence(p protocol.Partition) (protocol.Offset, sim.NodeID, sim.NodeID, bool) {
	var live []*trace.ReplicaState
	for i := range v.state.Replicas {
		r := &v.state.Replicas[i]
		if b := v.state.Broker(r.Broker); r.Partition == p && b != nil && (b.State == trace.ProcessUp || b.State == trace.ProcessFrozen) {
			live = append(live, r)
		}
	}
	at, one, other := protocol.Offset(-1), sim.NodeID(0), sim.NodeID(0)
	for i, x := range live {
		for _, y := range live[i+1:] {
			for o := max(x.LogStart, y.LogStart); o < min(x.LEO(), y.LEO()) && (at < 0 || o < at); o++ {
				if x.Records[o-x.LogStart] != y.Records[o-y.LogStart] {
					at, one, other = o, x.Broker, y.Broker
				}
			}
		}
	}
	return at, one, other, at >= 0
}

func recordConditions() []form {
	on := func(text, doc string, f func(have, want protocol.Brokers) bool) form {
		x := about(text, doc, func(v *view, p protocol.Partition, a []any) answer {
			value, known := v.names.Values.Find(a[0].(string))
			have := v.holders(p, value, known)
			var want protocol.Brokers
			if len(a) > 2 {
				want = protocol.BrokersOf(a[2].([]protocol.Broker)...)
			}
			where := have.String()
			if have == 0 {
				where = "no broker"
			}
			return is(f(have, want), "record %q of %s is on %s", a[0], a[1], where)
		})
		x.prefixNot = true
		return x
	}
	return []form{
		on("record <value> of <partition> is not on <brokers>", "on none of these", func(have, want protocol.Brokers) bool { return have&want == 0 }),
		on("record <value> of <partition> is on no broker", "in no log", func(have, _ protocol.Brokers) bool { return have == 0 }),
		on("record <value> of <partition> is at least on <brokers>", "in those logs and maybe more", func(have, want protocol.Brokers) bool { return want&^have == 0 }),
		onBroker("record <value> of <partition> is on disk of <broker>", "flushed there", func(v *view, r *trace.ReplicaState, a []any) answer {
			at := v.offset(r, a[0].(string))
			if at == protocol.NoOffset {
				return is(false, "record %q of %s is not on %d", a[0], a[1], a[2])
			}
			return is(at < r.Flushed, "record %q of %s is at %d on %d, whose log is on disk below %d", a[0], a[1], at, a[2], r.Flushed)
		}),
		on("record <value> of <partition> is on <brokers>", "in exactly those logs, stopped brokers' disks included", func(have, want protocol.Brokers) bool { return have == want }),
		led("record <value> of <partition> is committed", "its offset is below the acting leader's HW", func(v *view, r *trace.ReplicaState, a []any) answer {
			at := v.offset(r, a[0].(string))
			if at == protocol.NoOffset {
				return is(false, "record %q is not in the log of %d, the leader of %s", a[0], r.Broker, a[1])
			}
			return is(at < r.HW, "record %q is at %d, %s HW is %d", a[0], at, a[1], r.HW)
		}),
		led("record <value> of <partition> appears <number> times", "in the acting leader's log", func(v *view, r *trace.ReplicaState, a []any) answer {
			n := 0
			if value, ok := v.names.Values.Find(a[0].(string)); ok {
				for i := range r.Records {
					if r.Records[i].Value == value {
						n++
					}
				}
			}
			return is(n == a[2].(int), "record %q of %s appears %d times", a[0], a[1], n)
		}),
		onBroker("record <value> of <partition> on <broker> has epoch <number>", "the leader epoch it is stamped with there", func(v *view, r *trace.ReplicaState, a []any) answer {
			at := v.offset(r, a[0].(string))
			if at == protocol.NoOffset {
				return is(false, "record %q of %s is not on %d", a[0], a[1], a[2])
			}
			epoch := r.Records[at-r.LogStart].Epoch
			return is(int(epoch) == a[3].(int), "record %q of %s on %d has epoch %d", a[0], a[1], a[2], epoch)
		}),
		fated("record <value> is acked", "its producer was told success", func(r *trace.RecordState) bool { return r.Fate == trace.Acked }),
		fated("record <value> is failed", "its producer gave up", func(r *trace.RecordState) bool { return r.Fate == trace.Failed }),
		fated("record <value> is unanswered", "its producer was told nothing", func(r *trace.RecordState) bool { return r.Fate != trace.Acked && r.Fate != trace.Failed }),
		cond("record <value> is lost", "its producer was told success, there is an acting leader, and its log lacks the record", func(v *view, a []any) answer {
			r := v.record(a[0].(string))
			if r == nil {
				return is(false, "record %q has not been sent", a[0])
			}
			leader := v.acting(r.Partition)
			if leader == nil {
				return unknown("%s", v.noLeader(r.Partition))
			}
			if !toldSuccess(r) {
				return is(false, "record %q is %s", a[0], fateWords(r))
			}
			at := offsetOf(leader, r.Value)
			if at == protocol.NoOffset {
				return is(true, "record %q is lost: %d leads without it", a[0], leader.Broker)
			}
			return is(false, "record %q is at %d in the log of the leader, %d", a[0], at, leader.Broker)
		}),
	}
}

// count makes a condition on a number of a producer's records that depends on the
// acting leader's log.
func count(text, doc, what string, f func(v *view, leader *trace.ReplicaState, records []*trace.RecordState) (int, []protocol.Value)) form {
	return cond(text, doc, func(v *view, a []any) answer {
		p := v.state.Producer(v.node(a[0].(string)))
		if p == nil {
			return unknown("there is no producer %s yet", a[0])
		}
		leader := v.acting(p.Partition)
		if leader == nil {
			return unknown("%s", v.noLeader(p.Partition))
		}
		n, which := f(v, leader, v.recordsOf(p.Node))
		fact := fmt.Sprintf("%s of %s is %d", what, a[0], n)
		if len(which) > 0 {
			fact += ": " + v.valueList(which)
		}
		return is(a[1].(bound).holds(n), "%s", fact)
	})
}

// valueList names a few values.
func (v *view) valueList(l []protocol.Value) string {
	const most = 8
	var s []string
	for i, x := range l {
		if i == most {
			s = append(s, "…")
			break
		}
		s = append(s, `"`+v.names.Values.Text(x)+`"`)
	}
	return strings.Join(s, " ")
}

func (v *view) recordsOf(producer sim.NodeID) []*trace.RecordState {
	var l []*trace.RecordState
	for i := range v.state.Records {
		if r := &v.state.Records[i]; r.Producer == producer {
			l = append(l, r)
		}
	}
	return l
}

// lost are the records of which the producer was told success and that the leader lacks.
func lost(_ *view, leader *trace.ReplicaState, records []*trace.RecordState) (int, []protocol.Value) {
	have := map[protocol.Value]bool{}
	for i := range leader.Records {
		have[leader.Records[i].Value] = true
	}
	var l []protocol.Value
	for _, r := range records {
		if toldSuccess(r) && !have[r.Value] {
			l = append(l, r.Value)
		}
	}
	return len(l), l
}

// duplicates are copies beyond the first in the leader's log.
func duplicates(_ *view, leader *trace.ReplicaState, records []*trace.RecordState) (int, []protocol.Value) {
	own := map[protocol.Value]int{}
	for _, r := range records {
		own[r.Value] = 1
	}
	n := 0
	var l []protocol.Value
	for i := range leader.Records {
		x := leader.Records[i].Value
		switch own[x] {
		case 1:
			own[x] = 2
		case 2:
			n++
			l = append(l, x)
		}
	}
	return n, l
}

// outOfOrder are the records whose first copy in the leader's log stands behind that
// of a record that was sent later.
func outOfOrder(_ *view, leader *trace.ReplicaState, records []*trace.RecordState) (int, []protocol.Value) {
	order := map[protocol.Value]int{}
	for i, r := range records {
		order[r.Value] = i + 1
	}
	latest := 0
	var l []protocol.Value
	for i := range leader.Records {
		x := leader.Records[i].Value
		switch n := order[x]; {
		case n == 0:
			continue
		case n < latest:
			l = append(l, x)
		default:
			latest = n
		}
		delete(order, x)
	}
	return len(l), l
}

func clientConditions() []form {
	reader := func(text, doc string, f func(v *view, r *trace.ReaderState, a []any) answer) form {
		return cond(text, doc, func(v *view, a []any) answer {
			r := v.state.Reader(v.node(a[0].(string)))
			if r == nil {
				return unknown("there is no reader %s yet", a[0])
			}
			return f(v, r, a)
		})
	}
	position := func(r *trace.ReaderState) string {
		if r.Position == protocol.NoOffset {
			return "not known yet"
		}
		return strconv.FormatInt(int64(r.Position), 10)
	}
	return []form{
		cond("acked records of <producer> is <bound>", "how many it was told success of", func(v *view, a []any) answer {
			n := 0
			for _, r := range v.recordsOf(v.node(a[0].(string))) {
				if r.Fate == trace.Acked {
					n++
				}
			}
			return is(a[1].(bound).holds(n), "acked records of %s is %d", a[0], n)
		}),
		count("lost records of <producer> is <bound>", "of those it was told success of, how many the acting leader's log lacks", "lost records", lost),
		count("duplicates of <producer> is <bound>", "copies beyond the first in the acting leader's log", "duplicates", duplicates),
		count("out of order records of <producer> is <bound>", "records that stand behind one that was sent later", "out of order records", outOfOrder),
		cond("<client> got error <error>", "at least once, retried ones too", func(v *view, a []any) answer {
			id := v.node(a[0].(string))
			return is(v.facts.errors[clientError{id, a[1].(protocol.Error)}] > 0, "%s got %s", a[0], v.facts.errorList(id))
		}),
		cond("<client> got an error", "any, at least once", func(v *view, a []any) answer {
			id := v.node(a[0].(string))
			list := v.facts.errorList(id)
			return is(list != "no error", "%s got %s", a[0], list)
		}),
		cond("writes of <producer> available <share>", "share of the 1-second windows with at least one ack, from its first record to the answer to its last", func(v *view, a []any) answer {
			return v.available(a)
		}),
		reader("<reader> has read <values>", "all of them", func(v *view, r *trace.ReaderState, a []any) answer {
			for _, want := range a[1].([]string) {
				value, known := v.names.Values.Find(want)
				if !known || !slices.ContainsFunc(r.Read, func(x trace.ReadRecord) bool { return x.Value == value }) {
					return is(false, "%s has not read %q; it has read %s", a[0], want, v.readList(r))
				}
			}
			return is(true, "%s has read %s", a[0], v.readList(r))
		}),
		reader("<reader> has read <number> records", "that many or more", func(v *view, r *trace.ReaderState, a []any) answer {
			return is(len(r.Read) >= a[1].(int), "%s has read %d records", a[0], len(r.Read))
		}),
		reader("<reader> committed position is <bound>", "the offset it committed last", func(v *view, r *trace.ReaderState, a []any) answer {
			if r.Committed == protocol.NoOffset {
				return is(false, "%s has committed nothing", a[0])
			}
			return is(a[1].(bound).holds(int(r.Committed)), "%s committed position is %d", a[0], r.Committed)
		}),
		reader("<reader> position is above the end of <partition>", "beyond the acting leader's LEO", func(v *view, r *trace.ReaderState, a []any) answer {
			p, ok := v.partition(a[1].(protocol.TopicPartition))
			if !ok {
				return unknown("there is no partition %s yet", a[1])
			}
			leader := v.acting(p)
			if leader == nil {
				return unknown("%s", v.noLeader(p))
			}
			return is(r.Position > leader.LEO(), "%s position is %s, the end of %s is %d", a[0], position(r), a[1], leader.LEO())
		}),
		reader("<reader> position is <bound>", "the offset it reads next", func(v *view, r *trace.ReaderState, a []any) answer {
			return is(r.Position != protocol.NoOffset && a[1].(bound).holds(int(r.Position)), "%s position is %s", a[0], position(r))
		}),
		reader("<reader> read a record twice", "it got a value it had got before", func(v *view, r *trace.ReaderState, a []any) answer {
			seen := map[protocol.Value]bool{}
			for _, x := range r.Read {
				if seen[x.Value] {
					return is(true, "%s read %q twice", a[0], v.names.Values.Text(x.Value))
				}
				seen[x.Value] = true
			}
			return is(false, "%s read no record twice", a[0])
		}),
		reader("<reader> position went down", "it was set to something lower", func(v *view, r *trace.ReaderState, a []any) answer {
			if v.facts.wentDown[r.Node] {
				return is(true, "%s position went down", a[0])
			}
			return is(false, "%s position never went down, it is %s", a[0], position(r))
		}),
	}
}

// errorList names what a client was told.
func (f *facts) errorList(client sim.NodeID) string {
	var l []string
	for _, e := range protocol.Errors() {
		if f.errors[clientError{client, e}] > 0 {
			l = append(l, e.String())
		}
	}
	if len(l) == 0 {
		return "no error"
	}
	return strings.Join(l, ", ")
}

func (v *view) readList(r *trace.ReaderState) string {
	if len(r.Read) == 0 {
		return "nothing"
	}
	var l []protocol.Value
	for _, x := range r.Read {
		l = append(l, x.Value)
	}
	return v.valueList(l)
}

// available counts the windows of a second that have an ack in them.
func (v *view) available(a []any) answer {
	id := v.node(a[0].(string))
	p := v.state.Producer(id)
	records := v.recordsOf(id)
	if p == nil || len(records) == 0 {
		return unknown("%s has sent nothing", a[0])
	}
	from, to := records[0].QueuedAt, sim.Time(0)
	for _, r := range records {
		to = max(to, r.ToldAt)
		if p.Every != 0 || r.Fate == trace.Queued || r.Fate == trace.Sent {
			to = v.state.Time
			break
		}
	}
	windows := max(int((to-from)/sim.Second), 1)
	with := map[int]bool{}
	for _, t := range v.facts.acks[id] {
		if w := int((t - from) / sim.Second); w < windows {
			with[w] = true
		}
	}
	b := a[1].(bound)
	// Compared as fractions, so that 90% of 10 windows is 9 exactly.
	n := len(with) * 100
	holds := n == b.n*windows
	switch b.op {
	case ">=":
		holds = n >= b.n*windows
	case "<=":
		holds = n <= b.n*windows
	}
	return is(holds, "writes of %s were available in %d of %d windows of a second", a[0], len(with), windows)
}

func otherConditions() []form {
	return []form{
		cond("setting <producer> acks is <acks>", "present value", func(v *view, a []any) answer {
			p := v.state.Producer(v.node(a[0].(string)))
			if p == nil {
				return unknown("there is no producer %s yet", a[0])
			}
			return is(p.Acks == a[1].(int8), "setting %s acks is %s", a[0], writeAcks(p.Acks))
		}),
		cond("setting <key> is <setting>", "present value", func(v *view, a []any) answer {
			s := v.settings()
			have, _ := s.Value("", a[0].(string))
			return is(have == a[1].(string), "setting %s is %s", a[0], have)
		}),
		cond("setting <topic> <key> is <setting>", "present value for the topic", func(v *view, a []any) answer {
			s := v.settings()
			have, _ := s.Value(a[0].(string), a[1].(string))
			return is(have == a[2].(string), "setting %s %s is %s", a[0], a[1], have)
		}),
		cond("zookeeper is unreachable", "every broker that is up is cut from it", func(v *view, a []any) answer {
			zk := v.node("zookeeper")
			for i := range v.state.Brokers {
				b := &v.state.Brokers[i]
				if b.State == trace.ProcessUp && !v.cut(b.ID, zk) && !v.cut(zk, b.ID) {
					return is(false, "broker %d reaches zookeeper", b.ID)
				}
			}
			return is(true, "no broker reaches zookeeper")
		}),
		cond("link <link> is cut", "in the direction named, or both", func(v *view, a []any) answer {
			l := a[0].(cluster.Link)
			from, to := v.node(l.From), v.node(l.To)
			there, back := v.cut(from, to), v.cut(to, from)
			cut := there && (back || !l.Both)
			switch {
			case there && back:
				return is(cut, "link %s - %s is cut", l.From, l.To)
			case there:
				return is(cut, "only %s -> %s is cut", l.From, l.To)
			case back:
				return is(cut, "only %s -> %s is cut", l.To, l.From)
			}
			return is(cut, "link %s - %s is not cut", l.From, l.To)
		}),
		delay("told", "from the sending of the record to its ack at the producer", (*view).toldDelay),
		delay("readable", "from the sending of the record to the acting leader's HW passing it", (*view).readableDelay),
		delayOf("told", "from the sending to the ack, of the record told of last", false, (*view).toldDelay),
		delayOf("readable", "from the sending to the HW passing it, of the latest record", false, (*view).readableDelay),
		delayOf("told", "the longest so far", true, (*view).toldDelay),
		delayOf("readable", "the longest so far", true, (*view).readableDelay),
		equalDelays("told", (*view).toldDelay),
		equalDelays("readable", (*view).readableDelay),
		{text: "lane <rest>", doc: "in a comparison, in the lane of that name; a run of one cluster has none", check: noLane, condition: &condition{}},
		cond("invariants hold", "no invariant of the always-on checker has been violated since the start, but for those that Kafka itself breaks in this line and after this fault", func(v *view, _ []any) answer {
			l, err := v.violations()
			if err != nil {
				return unknown("the run cannot be made again: %s", coreText(err))
			}
			if len(l) == 0 {
				return is(true, "no invariant is violated")
			}
			return is(false, "%s is violated at #%d, %s: %s", l[0].Invariant, l[0].Event, l[0].Time, l[0].Text)
		}),
	}
}

// noLane: what is run here is one cluster.
func noLane(_ *Context, args []any) (int, error) {
	name, _, _ := strings.Cut(args[0].(string), ":")
	return 0, fmt.Errorf("there is no lane %s: this is one cluster, not a comparison", strings.TrimSpace(name))
}

func (v *view) cut(from, to sim.NodeID) bool {
	l := v.state.Link(from, to)
	return l != nil && l.Cut
}

// toldDelay is how long a record's producer waited to be told success. The record is
// sent when it is written to the socket for the first time.
func (v *view) toldDelay(r *trace.RecordState) (sim.Time, sim.Time, bool) {
	return r.ToldAt - r.SentAt, r.ToldAt, r.Fate == trace.Acked
}

func (v *view) readableDelay(r *trace.RecordState) (sim.Time, sim.Time, bool) {
	at, ok := v.facts.readable[r.Value]
	return at - r.SentAt, at, ok && r.Attempts > 0
}

// delayFunc is a delay, when it ended, and whether it has.
type delayFunc func(*view, *trace.RecordState) (sim.Time, sim.Time, bool)

func delay(what, doc string, f delayFunc) form {
	return cond(what+" delay of <value> is <delay>", doc, func(v *view, a []any) answer {
		d, ok, fact := v.delayOf(what, a[0].(string), f)
		if !ok {
			return unknown("%s", fact)
		}
		return is(a[1].(bound).holds(int(d)), "%s", fact)
	})
}

func (v *view) delayOf(what, value string, f delayFunc) (sim.Time, bool, string) {
	r := v.record(value)
	if r == nil {
		return 0, false, fmt.Sprintf("record %q has not been sent", value)
	}
	d, _, ok := f(v, r)
	if !ok && what == "told" {
		return 0, false, fmt.Sprintf("record %q is %s", value, fateWords(r))
	}
	if !ok {
		return 0, false, fmt.Sprintf("no acting leader's HW has passed record %q", value)
	}
	return d, true, fmt.Sprintf("%s delay of %q is %s", what, value, d)
}

// delayOf makes a condition on a producer's latest or longest delay.
func delayOf(what, doc string, longest bool, f delayFunc) form {
	words := what + " delay"
	if longest {
		words += " max"
	}
	return cond(words+" of <producer> is <delay>", doc, func(v *view, a []any) answer {
		best, last, found := sim.Time(0), sim.Time(-1), false
		for _, r := range v.recordsOf(v.node(a[0].(string))) {
			d, at, ok := f(v, r)
			if !ok {
				continue
			}
			if !found || longest && d > best || !longest && at >= last {
				best, last, found = d, at, true
			}
		}
		if !found {
			return unknown("no record of %s has a %s delay yet", a[0], what)
		}
		return is(a[1].(bound).holds(int(best)), "%s of %s is %s", words, a[0], best)
	})
}

func equalDelays(what string, f delayFunc) form {
	return cond(what+" delay of <value> equals "+what+" delay of <value>", "within one hop, network.latency", func(v *view, a []any) answer {
		x, ok, fact := v.delayOf(what, a[0].(string), f)
		if !ok {
			return unknown("%s", fact)
		}
		y, ok, other := v.delayOf(what, a[1].(string), f)
		if !ok {
			return unknown("%s", other)
		}
		s := v.settings()
		return is(max(x-y, y-x) <= sim.Time(s.NetworkLatency), "%s and %s", fact, other)
	})
}
