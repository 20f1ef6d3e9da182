package trace

import (
	"strconv"

	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// This file writes events and snapshots as JSON, by hand because the stream is hot.
// Nodes, partitions and record values are written by name; a set of brokers as a
// list; times as microseconds. What is unknown (−1) is written as −1.

// AppendJSON appends an event.
func (e *Event) AppendJSON(b []byte, n *Names) []byte {
	info := &kinds[e.Kind]
	j := writer{b: append(b, '{'), names: n}
	j.int("seq", int64(e.Seq))
	j.int("cause", int64(e.Cause))
	j.int("time", int64(e.Time))
	j.str("kind", info.Name)
	f := info.fields
	if f&fNode != 0 {
		j.node("node", e.Node)
	}
	if f&fPeer != 0 {
		j.node("peer", e.Peer)
	}
	if f&fPartition != 0 {
		j.partition(e.Partition)
	}
	if f&fOffset != 0 {
		j.int("offset", int64(e.Offset))
	}
	if f&fHW != 0 {
		j.int("hw", int64(e.HW))
	}
	if f&fEpoch != 0 {
		j.int("epoch", int64(e.Epoch))
	}
	if f&fControllerEpoch != 0 {
		j.int("controllerEpoch", int64(e.ControllerEpoch))
	}
	if f&fVersion != 0 {
		j.int("version", int64(e.Version))
	}
	if f&fLeader != 0 {
		j.int("leader", int64(e.Leader))
	}
	if f&fISR != 0 {
		j.brokers("isr", e.ISR)
	}
	if f&fReplicas != 0 {
		j.replicas(e.Replicas)
	}
	if f&fMessage != 0 {
		j.int("message", int64(e.Message))
	}
	if f&fAt != 0 {
		j.int("at", int64(e.At))
	}
	if f&fSession != 0 {
		j.int("session", e.Session)
	}
	if f&fPath != 0 {
		j.str("path", e.Path)
	}
	if f&fText != 0 {
		j.str("text", e.Text)
	}
	if f&fRecords != 0 {
		j.records(e.Records)
	}
	if f&fValues != 0 {
		j.values(e.Values)
	}
	if f&fError != 0 {
		j.str("error", e.Error.String())
	}
	if f&fHow != 0 {
		j.str("how", e.How.String())
	}
	if f&fAcks != 0 {
		j.int("acks", int64(e.Acks))
	}
	if f&fProducer != 0 {
		j.int("producerId", int64(e.Producer))
	}
	if f&fSequence != 0 {
		j.int("sequence", int64(e.Sequence))
	}
	if f&fBody != 0 {
		j.body(e.Body)
	}
	return append(j.b, '}')
}

// AppendJSON appends a snapshot.
func (s *Snapshot) AppendJSON(b []byte, n *Names) []byte {
	j := writer{b: append(b, '{'), names: n}
	j.int("seq", int64(s.Seq))
	j.int("time", int64(s.Time))
	j.str("kafka", string(s.Line))
	list(&j, "partitions", s.Partitions, func(p *PartitionState) {
		j.str("name", p.Name.String())
		j.replicas(p.Replicas)
	})
	list(&j, "brokers", s.Brokers, func(x *BrokerState) {
		j.node("id", x.ID)
		j.str("state", x.State.String())
		j.int("session", x.Session)
		j.bool("connected", x.Connected)
		j.bool("registered", x.Registered)
		j.bool("controller", x.Controller)
		j.bool("fetchesHeld", x.FetchesHeld)
		j.bool("controlHeld", x.ControlHeld)
		j.int("diskSlow", int64(x.DiskSlow))
	})
	list(&j, "replicas", s.Replicas, func(r *ReplicaState) {
		j.node("broker", r.Broker)
		j.partition(r.Partition)
		j.str("role", r.Role.String())
		j.int("leader", int64(r.Leader))
		j.int("epoch", int64(r.LeaderEpoch))
		j.int("logStart", int64(r.LogStart))
		j.records(r.Records)
		j.int("hw", int64(r.HW))
		j.int("flushed", int64(r.Flushed))
		j.int("checkpoint", int64(r.Checkpoint))
		j.brokers("isr", r.ISR)
		list(&j, "followers", r.Followers, func(f *FollowerState) {
			j.node("broker", f.Broker)
			j.int("leo", int64(f.LEO))
		})
	})
	list(&j, "znodes", s.Znodes, func(z *ZnodeState) {
		j.str("path", z.Path)
		j.str("data", z.Data)
		j.int("version", int64(z.Version))
		j.int("owner", z.Owner)
	})
	list(&j, "sessions", s.Sessions, func(x *SessionState) {
		j.int("id", x.ID)
		j.node("node", x.Node)
		j.int("timeout", int64(x.Timeout))
		j.int("heard", int64(x.Heard))
	})
	list(&j, "messages", s.Messages, func(m *MessageState) {
		j.int("id", int64(m.ID))
		j.node("from", m.From)
		j.node("to", m.To)
		j.int("sentAt", int64(m.SentAt))
		j.int("deliverAt", int64(m.DeliverAt))
		j.bool("held", m.Held)
		j.body(m.Body)
	})
	list(&j, "producers", s.Producers, func(p *ProducerState) {
		j.node("node", p.Node)
		j.partition(p.Partition)
		j.int("acks", int64(p.Acks))
		j.int("every", int64(p.Every))
		j.int("leader", int64(p.Leader))
		j.bool("idempotent", p.Idempotent)
		j.int("producerId", int64(p.ID))
	})
	list(&j, "readers", s.Readers, func(r *ReaderState) {
		j.node("node", r.Node)
		j.partition(r.Partition)
		j.bool("manual", r.Manual)
		j.int("position", int64(r.Position))
		j.int("committed", int64(r.Committed))
		j.int("leader", int64(r.Leader))
		list(&j, "read", r.Read, func(x *ReadRecord) {
			j.int("offset", int64(x.Offset))
			j.str("value", n.Values.Text(x.Value))
		})
	})
	list(&j, "records", s.Records, func(r *RecordState) {
		j.str("value", n.Values.Text(r.Value))
		j.node("producer", r.Producer)
		j.partition(r.Partition)
		j.str("fate", r.Fate.String())
		j.str("error", r.Error.String())
		j.int("attempts", int64(r.Attempts))
		j.int("queuedAt", int64(r.QueuedAt))
		j.int("sentAt", int64(r.SentAt))
		j.int("toldAt", int64(r.ToldAt))
		j.int("offset", int64(r.Offset))
		j.int("producerId", int64(r.ProducerID))
		j.int("sequence", int64(r.Sequence))
	})
	list(&j, "links", s.Links, func(l *LinkState) {
		j.node("from", l.From)
		j.node("to", l.To)
		j.bool("cut", l.Cut)
		j.bool("held", l.Held)
		j.int("slow", int64(l.Slow))
		j.drops(l.Drops)
	})
	list(&j, "parked", s.Parked, func(p *ParkedState) {
		j.int("message", int64(p.Message))
		j.node("broker", p.Broker)
		j.node("from", p.From)
		j.bool("produce", p.Produce)
		if p.Produce {
			j.partition(p.Partition)
			j.int("offset", int64(p.Offset))
		}
	})
	return append(j.b, '}')
}

// writer appends members of one JSON object after another.
type writer struct {
	b     []byte
	names *Names
}

func (j *writer) key(k string) {
	if c := j.b[len(j.b)-1]; c != '{' && c != '[' {
		j.b = append(j.b, ',')
	}
	j.b = append(j.b, '"')
	j.b = append(j.b, k...)
	j.b = append(j.b, '"', ':')
}

func (j *writer) int(k string, v int64) {
	j.key(k)
	j.b = strconv.AppendInt(j.b, v, 10)
}

func (j *writer) bool(k string, v bool) {
	j.key(k)
	j.b = strconv.AppendBool(j.b, v)
}

func (j *writer) str(k, v string) {
	j.key(k)
	j.b = appendString(j.b, v)
}

func (j *writer) node(k string, id sim.NodeID)   { j.str(k, j.names.Node(id)) }
func (j *writer) partition(p protocol.Partition) { j.str("partition", j.names.Partition(p)) }

func (j *writer) brokers(k string, s protocol.Brokers) {
	j.key(k)
	j.b = append(j.b, '[')
	for b := range s.All {
		j.element()
		j.b = strconv.AppendInt(j.b, int64(b), 10)
	}
	j.b = append(j.b, ']')
}

func (j *writer) replicas(r protocol.Replicas) {
	j.key("replicas")
	j.b = append(j.b, '[')
	for i := range r.Len() {
		j.element()
		j.b = strconv.AppendInt(j.b, int64(r.At(i)), 10)
	}
	j.b = append(j.b, ']')
}

// records writes a log as two lists: values, and [epoch, count] runs.
func (j *writer) records(records []protocol.Record) {
	j.key("values")
	j.b = append(j.b, '[')
	for _, r := range records {
		j.element()
		j.b = appendString(j.b, j.names.Values.Text(r.Value))
	}
	j.b = append(j.b, ']')
	j.key("epochs")
	j.b = append(j.b, '[')
	for i := 0; i < len(records); {
		k := i
		for k < len(records) && records[k].Epoch == records[i].Epoch {
			k++
		}
		j.element()
		j.b = append(j.b, '[')
		j.b = strconv.AppendInt(j.b, int64(records[i].Epoch), 10)
		j.b = append(j.b, ',')
		j.b = strconv.AppendInt(j.b, int64(k-i), 10)
		j.b = append(j.b, ']')
		i = k
	}
	j.b = append(j.b, ']')
}

func (j *writer) values(values []protocol.Value) {
	j.key("values")
	j.b = append(j.b, '[')
	for _, v := range values {
		j.element()
		j.b = appendString(j.b, j.names.Values.Text(v))
	}
	j.b = append(j.b, ']')
}

// body writes what can be seen of a message.
func (j *writer) body(body protocol.Body) {
	var d protocol.Description
	if body != nil {
		body.Describe(&d)
	}
	j.str("what", d.Kind.String())
	if d.Error != protocol.None {
		j.str("error", d.Error.String())
	}
	if d.Kind == protocol.KindProduce {
		j.int("acks", int64(d.Acks))
	}
	if d.Epoch != 0 {
		j.int("controllerEpoch", int64(d.Epoch))
	}
	if d.Text != "" {
		j.str("text", d.Text)
	}
	if session := sessionOf(body); session != 0 {
		j.int("session", session)
	}
	list(j, "parts", d.Partitions, func(p *protocol.PartitionDescription) {
		j.partition(p.Partition)
		if p.Error != protocol.None {
			j.str("error", p.Error.String())
		}
		if p.Offset != protocol.NoOffset {
			j.int("offset", int64(p.Offset))
		}
		if p.HW != protocol.NoOffset {
			j.int("hw", int64(p.HW))
		}
		if p.Epoch != protocol.NoEpoch {
			j.int("epoch", int64(p.Epoch))
		}
		if p.Leader != 0 {
			j.int("leader", int64(p.Leader))
			j.brokers("isr", p.ISR)
		}
		if p.Count > 0 {
			j.records(p.Records)
		}
		if p.Producer != protocol.NoProducerID {
			j.int("producerId", int64(p.Producer))
			j.int("sequence", int64(p.Sequence))
		}
	})
}

// drops writes the drops armed on a link as a list of classes.
func (j *writer) drops(drops [protocol.DropClasses]int) {
	j.key("drops")
	j.b = append(j.b, '[')
	for class, n := range drops {
		for range n {
			j.element()
			j.b = appendString(j.b, protocol.DropClass(class).String())
		}
	}
	j.b = append(j.b, ']')
}

func (j *writer) element() {
	if c := j.b[len(j.b)-1]; c != '[' {
		j.b = append(j.b, ',')
	}
}

// list writes a list of objects; each writes the members of one.
func list[T any](j *writer, k string, l []T, each func(*T)) {
	j.key(k)
	j.b = append(j.b, '[')
	for i := range l {
		j.element()
		j.b = append(j.b, '{')
		each(&l[i])
		j.b = append(j.b, '}')
	}
	j.b = append(j.b, ']')
}

const hex = "0123456789abcdef"

// appendString appends a JSON string. Strings here come from a parser that has
// checked them to be UTF-8.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == '<' || c == '>' || c == '&':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
