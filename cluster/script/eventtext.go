package script

import (
	"fmt"
	"strconv"
	"strings"

	"tidemark/cluster/protocol"
	"tidemark/cluster/trace"
)

// sentences say what events of a kind say. A name in braces is a field; what stands
// between [ and ] is left out where the field in it has nothing to say.
var sentences = map[trace.Kind]string{
	trace.StatementExecuted: "> {text}",
	trace.RunBegan:          "the run began",
	trace.SettingChanged:    "setting {path} is {text}",
	trace.BrokerAdded:       "broker {node} belongs to the cluster",
	trace.PartitionAdded:    "{partition} was created on {replicas}",
	trace.ProducerAdded:     "producer {node} was made for {partition}, acks {acks}[, {how}]",
	trace.ProducerChanged:   "producer {node} has acks {acks}",
	trace.ReaderAdded:       "reader {node} was made for {partition}[ from {offset}], {how}",
	trace.StreamStarted:     "{node} sends a record every {at}",
	trace.StreamStopped:     "{node} ends its stream",

	trace.ProcessStarted:   "{node} runs",
	trace.TimerFired:       "a timer of {node} went off",
	trace.MessageSent:      "{node} -> {peer}: {body}",
	trace.MessageDelivered: "{node} received #{message} from {peer}",
	trace.MessageLost:      "#{message} from {peer} to {node} was lost ({how})",
	trace.MessageHeld:      "#{message} from {peer} to {node} is held",
	trace.MessageReleased:  "#{message} from {peer} to {node} goes on",
	trace.ConnectionClosed: "{node} saw {peer} close a connection",

	trace.BrokerStarted:   "broker {node} started",
	trace.BrokerStopped:   "broker {node} stopped ({how})",
	trace.BrokerFrozen:    "broker {node} froze",
	trace.BrokerThawed:    "broker {node} thawed after {at}",
	trace.LinkCut:         "link {node} -> {peer} was cut",
	trace.LinkHealed:      "link {node} -> {peer} was healed",
	trace.LinkHeld:        "link {node} -> {peer} is held",
	trace.LinkReleased:    "link {node} -> {peer} was released",
	trace.LinkSlowed:      "link {node} -> {peer} is slower by {at}",
	trace.DropArmed:       "the next {text} {node} -> {peer} will be lost",
	trace.DiskSlowed:      "disk of {node} is slower by {at}",
	trace.FetchesHeld:     "fetches of {node} are held",
	trace.FetchesReleased: "fetches of {node} were released",
	trace.ControlHeld:     "control to {node} is held",
	trace.ControlReleased: "control to {node} was released",

	trace.SessionOpened:         "session of broker {peer} opened",
	trace.SessionClosed:         "session of broker {peer} closed",
	trace.SessionExpired:        "session of broker {peer} expired",
	trace.ZnodeCreated:          "{path} was created: {text}",
	trace.ZnodeChanged:          "{path} changed: {text}",
	trace.ZnodeDeleted:          "{path} was deleted",
	trace.AssignmentChanged:     "{partition} is assigned to {replicas}",
	trace.WatchFired:            "a watch of {peer} on {path} fired",
	trace.ZooKeeperConnected:    "broker {node} is connected to ZooKeeper",
	trace.ZooKeeperDisconnected: "broker {node} lost its connection to ZooKeeper",
	trace.ZooKeeperSessionLost:  "broker {node} learned that its session had expired",
	trace.BrokerRegistered:      "broker {node} registered",
	trace.RegistrationRefused:   "registration of broker {node} refused: its old session lives",

	trace.ControllerElected:    "controller moved to {node}, controller epoch {controllerEpoch}",
	trace.ControllerResigned:   "broker {node} resigned as controller",
	trace.BrokerFailureNoticed: "controller {node} noticed that broker {peer} is gone",
	trace.BrokerStartupNoticed: "controller {node} noticed that broker {peer} is new",
	trace.LeaderElected:        "controller {node} elected {leader} for {partition} ({how}), epoch {epoch}, ISR {isr}",
	trace.PartitionWentOffline: "{partition} went offline, ISR {isr}",
	trace.ControllerShrankISR:  "controller {node} shrank ISR of {partition} to {isr}, epoch {epoch}",
	trace.LeaderEpochRaised:    "controller {node} began epoch {epoch} of {partition} with leader {leader}, for the assignment {replicas}",
	trace.ControlRejected:      "broker {node} rejected a request of controller {peer}: {error}",

	trace.BecameLeader:              "{node} leads {partition}, epoch {epoch}, ISR {isr}",
	trace.BecameFollower:            "{node} follows {leader} in {partition}, epoch {epoch}",
	trace.ReplicaStopped:            "{node} neither leads nor follows in {partition}",
	trace.LogCreated:                "{node} has a log of {partition}",
	trace.LogRecovered:              "{node} found its log of {partition}: LEO {offset}, HW {hw}",
	trace.LogAppended:               "{node} appended {records} to {partition} at {offset}",
	trace.LogTruncated:              "{node} truncated {partition} to {offset} ({how})",
	trace.LogTailLost:               "{node} lost what was not on disk of {partition}: LEO {offset}",
	trace.LogTrimmed:                "{node} dropped what {partition} has below {offset}",
	trace.LogRestarted:              "{node} dropped its log of {partition} and begins anew at {offset}",
	trace.LogFlushed:                "{node} flushed {partition} below {offset}",
	trace.LogWiped:                  "{node} lost its log of {partition}",
	trace.LogDeleted:                "{node} deleted its log of {partition}",
	trace.HighWatermarkAdvanced:     "HW of {partition} on {node} rose to {hw}",
	trace.HighWatermarkLowered:      "HW of {partition} on {node} fell to {hw}",
	trace.HighWatermarkCheckpointed: "{node} checkpointed HW {hw} of {partition}",
	trace.CheckpointWiped:           "{node} lost its checkpoint file of HWs",
	trace.FollowerProgressed:        "{node} learned that {peer} has {partition} below {offset}",
	trace.ISRUpdateSent:             "{node} asks ZooKeeper for ISR {isr} of {partition}",
	trace.ISRUpdateBlocked:          "ISR update of {node} for {partition} blocked: no answer from ZooKeeper",
	trace.ISRUpdateRefused:          "ISR update of {node} for {partition} refused: another version",
	trace.ISRShrunk:                 "leader {node} shrank ISR of {partition} to {isr}",
	trace.ISRExpanded:               "leader {node} expanded ISR of {partition} to {isr}",
	trace.FetchParked:               "#{message} of {peer} waits at {node} for data",
	trace.FetchUnparked:             "#{message} of {peer} waits no longer",
	trace.ProduceParked:             "#{message} of {peer} waits at {node} for HW {offset} of {partition}",
	trace.ProduceUnparked:           "#{message} of {peer} waits no longer",
	trace.FetchRejected:             "{node} rejected a fetch of {peer} for {partition}: {error}",

	trace.RecordQueued:   "{node} was given {values} for {partition}",
	trace.RecordSent:     "{node} sent {values} of {partition} to {peer}[, sequence {sequence}]",
	trace.RecordAcked:    "{node} was told success of {values}[ at {offset}] of {partition}",
	trace.RecordAssumed:  "{node} assumes success of {values} of {partition}",
	trace.RecordFailed:   "{node} gave up {values} of {partition}: {error}",
	trace.ProduceRefused: "{node} got {error} from {peer} for {values} of {partition}",
	trace.LeaderLearned:  "{node} learned leader {leader} of {partition}, epoch {epoch}",
	trace.RecordRead:     "{node} got {records} of {partition} at {offset}",
	trace.ReadNothing:    "{node} got nothing of {partition}",
	trace.ReaderMoved:    "position of {node} in {partition} is {offset} ({how})",
	trace.ReaderRefused:  "{node} got {error} for {partition}",

	trace.ProducerIDAssigned:  "{node} has producer id {producerId}",
	trace.ProducerIDDropped:   "{node} gave up its producer id {producerId}",
	trace.DuplicateRecognised: "{node} recognised duplicate {values} of {peer} in {partition} at {offset}",
	trace.PositionCommitted:   "{node} committed position {offset} in {partition}",
}

// ofPartition reports whether events of a kind are about a partition.
func ofPartition(k trace.Kind) bool { return strings.Contains(sentences[k], "{partition}") }

// EventLine writes an event as a line: number, time, what happened, and the number
// of what led to it.
func EventLine(e *trace.Event, n *trace.Names) string {
	s := fmt.Sprintf("#%d %s %s", e.Seq, e.Time, Sentence(e, n))
	if e.Cause != 0 {
		s += fmt.Sprintf(" <- #%d", e.Cause)
	}
	return s
}

// Sentence says what an event says.
func Sentence(e *trace.Event, n *trace.Names) string {
	var b strings.Builder
	rest := sentences[e.Kind]
	for {
		i := strings.IndexAny(rest, "{[")
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:i])
		closing := "}"
		if rest[i] == '[' {
			closing = "]"
		}
		inner, after, _ := strings.Cut(rest[i+1:], closing)
		if closing == "}" {
			b.WriteString(fieldText(inner, e, n))
		} else {
			text, field, _ := strings.Cut(inner, "{")
			if value := fieldText(strings.TrimSuffix(field, "}"), e, n); value != "-1" && value != "" {
				b.WriteString(text + value)
			}
		}
		rest = after
	}
}

func fieldText(field string, e *trace.Event, n *trace.Names) string {
	switch field {
	case "node":
		return n.Node(e.Node)
	case "peer":
		return n.Node(e.Peer)
	case "partition":
		return n.Partition(e.Partition)
	case "offset":
		return strconv.FormatInt(int64(e.Offset), 10)
	case "hw":
		return strconv.FormatInt(int64(e.HW), 10)
	case "epoch":
		return strconv.Itoa(int(e.Epoch))
	case "controllerEpoch":
		return strconv.Itoa(int(e.ControllerEpoch))
	case "leader":
		if e.Leader == protocol.NoBroker {
			return "none"
		}
		return strconv.Itoa(int(e.Leader))
	case "isr":
		return e.ISR.String()
	case "replicas":
		return writeBrokers(e.Replicas.List())
	case "message":
		return strconv.FormatUint(uint64(e.Message), 10)
	case "at":
		return protocol.FormatDuration(int64(e.At))
	case "path":
		return e.Path
	case "text":
		return e.Text
	case "records":
		return valuesText(n, e.Records)
	case "values":
		var records []protocol.Record
		for _, v := range e.Values {
			records = append(records, protocol.Record{Value: v})
		}
		return valuesText(n, records)
	case "error":
		return e.Error.String()
	case "how":
		return e.How.String()
	case "producerId":
		return strconv.FormatInt(int64(e.Producer), 10)
	case "sequence":
		return strconv.Itoa(int(e.Sequence))
	case "acks":
		return writeAcks(e.Acks)
	case "body":
		return bodyText(e.Body, n)
	}
	panic("script: no field " + field)
}

// valuesText lists values; a long list is cut in the middle.
func valuesText(n *trace.Names, records []protocol.Record) string {
	const most, edge = 12, 5
	var s []string
	for i := range records {
		if len(records) > most && i == edge {
			s = append(s, fmt.Sprintf("… %d more …", len(records)-2*edge))
		}
		if len(records) > most && i >= edge && i < len(records)-edge {
			continue
		}
		s = append(s, `"`+n.Values.Text(records[i].Value)+`"`)
	}
	if len(s) == 0 {
		return "no records"
	}
	return strings.Join(s, " ")
}

// bodyText says what a message is about.
func bodyText(body protocol.Body, n *trace.Names) string {
	if body == nil {
		return "a message"
	}
	var d protocol.Description
	body.Describe(&d)
	s := strings.ReplaceAll(d.Kind.String(), "_", " ")
	if d.Error != protocol.None {
		s += " " + d.Error.String()
	}
	if d.Text != "" {
		s += " " + d.Text
	}
	for i := range d.Partitions {
		p := &d.Partitions[i]
		s += " " + n.Partition(p.Partition)
		if p.Offset != protocol.NoOffset {
			s += fmt.Sprintf(" at %d", p.Offset)
		}
		if p.Count > 0 {
			s += " " + valuesText(n, p.Records)
		}
		if p.Producer != protocol.NoProducerID {
			s += fmt.Sprintf(" sequence %d", p.Sequence)
		}
		if p.HW != protocol.NoOffset {
			s += fmt.Sprintf(" HW %d", p.HW)
		}
		if p.Leader != 0 {
			s += fmt.Sprintf(" leader %d ISR %s", p.Leader, p.ISR)
		}
		if p.Epoch != protocol.NoEpoch {
			s += fmt.Sprintf(" epoch %d", p.Epoch)
		}
	}
	return s
}
