package script

import (
	"fmt"
	"slices"
	"strings"

	"tidemark/cluster/check"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
	"tidemark/cluster/trace"
)

// The texts of show statements are stable: golden files are made of them.

func showPartition(s *Session, st Statement) (string, error) {
	v := s.view()
	p, ok := v.partition(st.args[0].(protocol.TopicPartition))
	if !ok {
		return "", st.errorf("there is no partition %s yet", st.args[0])
	}
	return partitionText(v, p), nil
}

// partitionText is ZooKeeper's state in the first line, then a line a replica.
func partitionText(v *view, p protocol.Partition) string {
	var b strings.Builder
	x := &v.state.Partitions[p]
	fmt.Fprintf(&b, "%s on %s", x.Name, writeBrokers(x.Replicas.List()))
	if z := v.znode(p); z != nil {
		leader := "no leader"
		if z.Leader != protocol.NoBroker {
			leader = fmt.Sprintf("leader %d", z.Leader)
		}
		fmt.Fprintf(&b, ": %s, epoch %d, ISR %s", leader, z.LeaderEpoch, z.ISR)
	}
	b.WriteByte('\n')
	for _, id := range x.Replicas.List() {
		r := v.replica(id, p)
		start := ""
		if r.LogStart > 0 {
			start = fmt.Sprintf(", begins at %d", r.LogStart)
		}
		fmt.Fprintf(&b, "  %d %s: LEO %d, HW %d%s: %s\n", id, roleText(v, r), r.LEO(), r.HW, start, logText(v.names, r))
	}
	for i := range v.state.Replicas {
		if r := &v.state.Replicas[i]; r.Partition == p && !x.Replicas.Has(protocol.Broker(r.Broker)) {
			fmt.Fprintf(&b, "  %d not assigned: LEO %d\n", r.Broker, r.LEO())
		}
	}
	return b.String()
}

// showInvariants lists the invariants that were violated, each with its first violation
// and, where it is Kafka's own, the reason.
func showInvariants(s *Session, st Statement) (string, error) {
	checker, err := s.check()
	if err != nil {
		return "", st.errorf("the run cannot be made again: %s", coreText(err))
	}
	var b strings.Builder
	for _, inv := range check.Invariants {
		var first *check.Violation
		n := 0
		for i := range checker.Violations {
			v := &checker.Violations[i]
			if v.Invariant != inv.Name {
				continue
			}
			if n++; first == nil || first.Excuse != "" && v.Excuse == "" {
				first = v
			}
		}
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s violated %s at %s: %s\n", inv.Name, times(n), first.Time, first.Text)
		if first.Excuse != "" {
			fmt.Fprintf(&b, "  as in Kafka: %s\n", first.Excuse)
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("all %d invariants hold\n", len(check.Invariants)), nil
	}
	return b.String(), nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}

func roleText(v *view, r *trace.ReplicaState) string {
	b := v.state.Broker(r.Broker)
	if b != nil && (b.State == trace.ProcessDown || b.State == trace.ProcessOff) {
		return b.State.String()
	}
	s := "idle"
	switch r.Role {
	case trace.RoleLeader:
		s = fmt.Sprintf("leads in epoch %d with ISR %s", r.LeaderEpoch, r.ISR)
	case trace.RoleFollower:
		s = fmt.Sprintf("follows %d in epoch %d", r.Leader, r.LeaderEpoch)
		if r.Leader == protocol.NoBroker {
			s = fmt.Sprintf("follows nobody in epoch %d", r.LeaderEpoch)
		}
	}
	if b != nil && b.State == trace.ProcessFrozen {
		s += ", frozen"
	}
	return s
}

// logText lists a log: values, "|" where the HW stands, and e3: where the records of
// another epoch begin. A long log is cut in front.
func logText(n *trace.Names, r *trace.ReplicaState) string {
	const most = 20
	var l []string
	from := r.LogStart
	if len(r.Records) > most {
		from = r.LEO() - most
		l = append(l, fmt.Sprintf("… from %d:", from))
	}
	if r.HW <= from {
		l = append(l, "|")
	}
	for o := from; o < r.LEO(); o++ {
		x := r.Records[o-r.LogStart]
		if o == from || x.Epoch != r.Records[o-1-r.LogStart].Epoch {
			l = append(l, fmt.Sprintf("e%d:", x.Epoch))
		}
		l = append(l, `"`+n.Values.Text(x.Value)+`"`)
		if o+1 == r.HW {
			l = append(l, "|")
		}
	}
	if r.HW > r.LEO() {
		l = append(l, "(HW beyond the end)")
	}
	return strings.Join(l, " ")
}

func showBrokers(s *Session, _ Statement) (string, error) {
	var b strings.Builder
	for _, x := range s.state.Brokers {
		fmt.Fprintf(&b, "%d %s", x.ID, x.State)
		if x.State == trace.ProcessUp || x.State == trace.ProcessFrozen {
			switch {
			case x.Session == 0:
				b.WriteString(", no session")
			case !x.Connected:
				b.WriteString(", disconnected from ZooKeeper")
			case !x.Registered:
				b.WriteString(", not registered")
			default:
				b.WriteString(", registered")
			}
		}
		for _, f := range []struct {
			is   bool
			text string
		}{{x.Controller, ", controller"}, {x.FetchesHeld, ", fetches held"}, {x.ControlHeld, ", control held"}, {x.DiskSlow != 0, ", disk slower by " + protocol.FormatDuration(int64(x.DiskSlow))}} {
			if f.is {
				b.WriteString(f.text)
			}
		}
		b.WriteByte('\n')
	}
	for _, l := range s.state.Links {
		fmt.Fprintf(&b, "%s -> %s", s.names().Node(l.From), s.names().Node(l.To))
		if l.Cut {
			b.WriteString(" cut")
		}
		if l.Held {
			b.WriteString(" held")
		}
		if l.Slow != 0 {
			b.WriteString(" slower by " + protocol.FormatDuration(int64(l.Slow)))
		}
		for class, n := range l.Drops {
			for range n {
				b.WriteString(" drops the next " + protocol.DropClass(class).String())
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func showZooKeeper(s *Session, _ Statement) (string, error) {
	var b strings.Builder
	owners := map[int64]sim.NodeID{}
	for _, x := range s.state.Sessions {
		owners[x.ID] = x.Node
	}
	for _, z := range s.state.Znodes {
		fmt.Fprintf(&b, "%s v%d", z.Path, z.Version)
		if z.Owner != 0 {
			fmt.Fprintf(&b, " of %s", s.names().Node(owners[z.Owner]))
		}
		if z.Data != "" {
			b.WriteString(" " + z.Data)
		}
		b.WriteByte('\n')
	}
	for _, x := range s.state.Sessions {
		fmt.Fprintf(&b, "session of %s, timeout %s\n", s.names().Node(x.Node), protocol.FormatDuration(int64(x.Timeout)))
	}
	return b.String(), nil
}

// showLedger writes a line a record: what its producer was told, where it is, and
// what follows from both.
func showLedger(s *Session, _ Statement) (string, error) {
	v := s.view()
	if len(s.state.Records) == 0 {
		return "no record has been sent\n", nil
	}
	var b strings.Builder
	for i := range s.state.Records {
		r := &s.state.Records[i]
		fmt.Fprintf(&b, "%q of %s: %s", s.names().Values.Text(r.Value), s.names().Node(r.Producer), fateWords(r))
		if r.Offset != protocol.NoOffset {
			fmt.Fprintf(&b, " at %d", r.Offset)
		}
		if r.Fate == trace.Acked && r.Attempts > 1 {
			fmt.Fprintf(&b, ", attempt %d", r.Attempts)
		}
		if d, _, ok := v.toldDelay(r); ok {
			fmt.Fprintf(&b, ", told after %s", d)
		}
		if d, _, ok := v.readableDelay(r); ok {
			fmt.Fprintf(&b, ", readable after %s", d)
		}
		if on := v.holders(r.Partition, r.Value, true); on != 0 {
			fmt.Fprintf(&b, ", on %s", on)
		} else {
			b.WriteString(", on no broker")
		}
		if leader := v.acting(r.Partition); leader != nil && toldSuccess(r) && offsetOf(leader, r.Value) == protocol.NoOffset {
			b.WriteString(", LOST")
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// showEvents writes the last events of the story: what is not machinery.
func showEvents(s *Session, st Statement) (string, error) {
	return strings.Join(s.lastEvents(st.args[0].(int), func(*trace.Event) bool { return true }), "\n") + "\n", nil
}

// lastEvents are the last n events of the story since time 0 that are about something.
// What is lost with a dead process goes without saying.
func (s *Session) lastEvents(n int, about func(*trace.Event) bool) []string {
	var l []string
	for i := len(s.history.notes) - 1; i >= 0 && len(l) < n; i-- {
		e := &s.history.notes[i].event
		if e.Seq <= s.began {
			break
		}
		if e.Kind.Quiet() || !about(e) || e.Kind == trace.MessageLost && (e.How == trace.ByCrash || e.How == trace.ByOldLife) {
			continue
		}
		l = append(l, EventLine(e, s.names()))
	}
	slices.Reverse(l)
	return l
}
