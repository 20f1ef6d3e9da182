package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// Line is a release line of Kafka, by the name the lab language gives it.
type Line string

// Rules is how a release line behaves: every difference between the lines is an
// entry here and nowhere else. The core asks for a rule, never for a version.
type Rules struct {
	Line    Line
	Release string // the release it is modelled on

	// Truncation is what a new follower does with the end of its log.
	Truncation Truncation
	// FetchFencing: fetches carry the follower's leader epoch and are refused when it
	// is not the leader's (KIP-320).
	FetchFencing bool
	// StampEpochAtElection: a new leader notes its epoch's start before it appends (KAFKA-7415).
	StampEpochAtElection bool
	// ExpandAtEpochStart: a follower must have reached the start of the leader's epoch to
	// join the ISR, not only its HW (KAFKA-7128).
	ExpandAtEpochStart bool
	// HWCountsCaughtUp: the HW also waits for assigned replicas that are caught up but not
	// (yet) in the ISR (KAFKA-4485).
	HWCountsCaughtUp bool
	// CaughtUpByPreviousFetch: a follower whose fetch reaches the leader's log end of the
	// previous fetch counts as caught up at that time (KAFKA-4485).
	CaughtUpByPreviousFetch bool
	// LagSparesLogEnd: a follower at the leader's log end is never out of sync (KAFKA-7152).
	LagSparesLogEnd bool
	// ISRCheckHalfLag: the ISR is checked every half of replica.lag.time.max.ms, not every whole.
	ISRCheckHalfLag bool
	// SameLeader is which LeaderAndIsr a follower takes for "nothing to do".
	SameLeader SameLeader
	// KeepLastISRMember is when the last member stays in the ISR though its broker is gone.
	KeepLastISRMember KeepLast
	// HWPropagation is whether a waiting follower's fetch is answered because the HW moved (KIP-392).
	HWPropagation HWPropagation
	// BounceDetection: the controller tells a restarted broker from one that never left, by
	// its registration's czxid, and requests to an earlier life are refused (KIP-380).
	BounceDetection bool
	// FailoverOfflinesReplicas: a new controller takes the replicas of dead brokers out of
	// the ISRs, not only those of brokers that die in its time.
	FailoverOfflinesReplicas bool
	// EarlyRestart is what happens to the registration of a broker whose old session still lives.
	EarlyRestart EarlyRestart
	// ControllerEpochFence: controller writes check the version of /controller_epoch (KAFKA-6082).
	ControllerEpochFence bool
	// MinISRBeforeAppend: acks=all is refused before the append when the ISR is too small.
	MinISRBeforeAppend bool
	// HaltOnTruncation: a follower ahead of its leader halts the broker when unclean election
	// is off ("log truncation is not allowed"; removed by KAFKA-7414).
	HaltOnTruncation bool
	// LatestWaitsForEpochStart: ListOffsets(latest) is refused while HW < epoch start (KIP-207).
	LatestWaitsForEpochStart bool
	// EpochCacheRepairs: a new epoch drops the entries that contradict it, and an epoch older
	// than the log has an end, the first entry's start (KAFKA-7415). Before, entries that did
	// not fit were not made, and the answer was "unknown".
	EpochCacheRepairs bool
	// ISRLag is what takes a follower out of the ISR.
	ISRLag ISRLag
	// ISRChangeNotification: leaders tell the controller of their ISR changes, and it tells
	// the brokers (KAFKA-1367). Before, metadata kept the ISR of the last election.
	ISRChangeNotification bool
	// OutOfRangeDropsLog: a follower whose fetch was out of range and that then finds the
	// leader's log longer than its own drops everything it has (until KAFKA-2143).
	OutOfRangeDropsLog bool
	// ShutdownChecksAlive: a controlled shutdown hands over to a member of the ISR that is
	// alive, not to any that is not shutting down (KAFKA-3670).
	ShutdownChecksAlive bool
	// ReadAboveHW is what a consumer gets that asks for an offset between HW and log end.
	ReadAboveHW ReadAboveHW
	// FullTruncationRaisesHW: a log that starts anew at the leader's log start has its HW
	// there, too (KAFKA-9491, in none of the lines).
	FullTruncationRaisesHW bool
	// FollowersTrimWithLeader: followers raise their log start to the leader's, which fetch
	// answers carry (KIP-107). Before, every broker's own retention moves its own.
	FollowersTrimWithLeader bool
	// HWAtLeastLogStart: a starting broker lets no HW be below its log's start.
	HWAtLeastLogStart bool
	// UncleanElectionCommand: an administrator can ask for an unclean election (KIP-460).
	UncleanElectionCommand bool
	// UncleanEnablingElects: switching unclean election on lets the controller try the
	// partitions without a leader again (KIP-226). Before, the next broker that starts does.
	UncleanEnablingElects bool
	// CallsOutliveSession: what a broker asked of ZooKeeper is asked again when its session
	// has ended and another begun, and a controller learns that it was deposed when it is done
	// with the event at hand (ZkClient, replaced in 1.1).
	CallsOutliveSession bool
	// MinISRBeforeAnswer: acks=all is answered with an error when the ISR has become too
	// small since the append.
	MinISRBeforeAnswer bool
	// KeepReplicaOfDeadLeader: a broker told to follow a leader that is gone keeps the HW of
	// its replica in the checkpoint file (KAFKA-1647, in all lines).
	KeepReplicaOfDeadLeader bool
	// RereadRefusedISRWrite: a leader whose ISR write met another version looks whether it was
	// its own write, whose answer was lost (KAFKA-1382, in all lines).
	RereadRefusedISRWrite bool
	// Idempotence is what a leader remembers of a producer's batches (KIP-98, KAFKA-5494).
	Idempotence Idempotence

	// ServeAfterRegistration: a starting broker handles requests once it is registered, not
	// before. Else what was meant for its earlier life can give it a role.
	ServeAfterRegistration bool

	// What follows is so in every line. Switching one off plants a bug, to see what finds it.

	// HWWaitsForISR: the HW waits for every member of the ISR.
	HWWaitsForISR bool
	// ControlRetries: a control request without an answer is sent again.
	ControlRetries bool
	// SeparateConnections: a broker's requests to another and its answers to it travel on
	// connections of their own and may overtake each other.
	SeparateConnections bool
	// UncleanDefault is the line's default of unclean.leader.election.enable.
	UncleanDefault bool
}

// Truncation is a generation of log reconciliation.
type Truncation uint8

// The generations.
const (
	TruncateToHighWatermark Truncation = iota // to the local HW (0.8 to 0.10)
	TruncateOneRound                          // OffsetsForLeaderEpoch, one round (KIP-101)
	TruncateIterative                         // until both know the epoch (KIP-279)
	TruncateFenced                            // the same, fenced by the current epoch (KIP-320)
	TruncateNothing                           // never, in no line: to see what finds it
)

// SameLeader is which decisions change nothing for a follower.
type SameLeader uint8

// The rules of "same leader".
const (
	SameLeaderAnyEpoch  SameLeader = iota // same leader id, whatever epochs were missed
	SameLeaderNextEpoch                   // same leader, epoch equal or one more (KAFKA-7164)
	SameLeaderSameEpoch                   // same leader and epoch
)

// ISRLag is how a leader measures that a follower lags too far.
type ISRLag uint8

// The measures.
const (
	LagByMessages ISRLag = iota // more than replica.lag.max.messages behind, or no fetch for replica.lag.time.max.ms
	LagByTime                   // not caught up for replica.lag.time.max.ms (KAFKA-1546)
)

// ReadAboveHW is the answer to a consumer between HW and log end.
type ReadAboveHW uint8

// The answers.
const (
	ReadAboveHWFails ReadAboveHW = iota // the broker fails with an internal error
	ReadAboveHWOutOfRange
	ReadAboveHWEmpty // nothing, and no error
)

// Idempotence is how many of a producer's latest batches a leader knows again.
type Idempotence uint8

// The rules of idempotence.
const (
	IdempotenceNone Idempotence = iota // there are no producer ids
	// IdempotenceLastBatch: only the last, so a producer has one request under way; a gap and
	// an unknown producer id are the same error, which ends the id.
	IdempotenceLastBatch
	// IdempotenceFiveBatches: the last five, so a producer has up to five requests under way and
	// sends again what is refused because something before it is missing.
	IdempotenceFiveBatches
)

// Kept is how many batches that is.
func (i Idempotence) Kept() int { return [...]int{0, 1, 5}[i] }

// KeepLast is when the last ISR member is kept.
type KeepLast uint8

// The rules of keeping it.
const (
	KeepLastUnlessUnclean KeepLast = iota // only if unclean election is off
	KeepLastAlways                        // always
)

// HWPropagation is how a follower that waits at the leader learns of a new HW.
type HWPropagation uint8

// The rules of propagation.
const (
	HWWaits   HWPropagation = iota // with the next answer, at the latest after the long poll
	HWAnswers                      // its waiting fetch is answered at once
)

// EarlyRestart is what a registration does while the old session lives.
type EarlyRestart uint8

// The rules of early restarts.
const (
	EarlyRestartRefused  EarlyRestart = iota // refused, tried again until the session is gone
	EarlyRestartAccepted                     // the old znode is taken over at once
)

// lines is the table, oldest first. Each line is the one before it with what changed.
var lines = func() []Rules {
	v08 := Rules{
		Line: "0.8", Release: "0.8.2.2",
		Truncation:              TruncateToHighWatermark,
		SameLeader:              SameLeaderAnyEpoch,
		KeepLastISRMember:       KeepLastUnlessUnclean,
		HWPropagation:           HWWaits,
		ISRLag:                  LagByMessages,
		OutOfRangeDropsLog:      true,
		CallsOutliveSession:     true,
		ReadAboveHW:             ReadAboveHWFails,
		MinISRBeforeAppend:      true,
		MinISRBeforeAnswer:      true,
		HaltOnTruncation:        true,
		UncleanDefault:          true,
		KeepReplicaOfDeadLeader: true,
		RereadRefusedISRWrite:   true,
		HWWaitsForISR:           true,
		ControlRetries:          true,
		SeparateConnections:     true,
	}

	v09 := v08
	v09.Line, v09.Release = "0.9", "0.9.0.1"
	v09.ISRLag = LagByTime
	v09.ISRChangeNotification = true
	v09.OutOfRangeDropsLog = false

	v010 := v09
	v010.Line, v010.Release = "0.10", "0.10.2.2"
	v010.HWCountsCaughtUp = true
	v010.CaughtUpByPreviousFetch = true
	v010.ISRCheckHalfLag = true
	v010.ShutdownChecksAlive = true
	v010.ReadAboveHW = ReadAboveHWEmpty

	v011 := v010
	v011.Line, v011.Release = "0.11", "0.11.0.3"
	v011.Truncation = TruncateOneRound
	v011.FollowersTrimWithLeader = true
	v011.UncleanDefault = false
	v011.Idempotence = IdempotenceLastBatch

	v20 := v011
	v20.Line, v20.Release = "2.0", "2.0.0"
	v20.Truncation = TruncateIterative
	v20.KeepLastISRMember = KeepLastAlways
	v20.UncleanEnablingElects = true
	v20.ServeAfterRegistration = true
	v20.Idempotence = IdempotenceFiveBatches
	v20.CallsOutliveSession = false

	v21 := v20
	v21.Line, v21.Release = "2.1", "2.1.1"
	v21.Truncation = TruncateFenced
	v21.FetchFencing = true
	v21.StampEpochAtElection = true
	v21.EpochCacheRepairs = true
	v21.ExpandAtEpochStart = true
	v21.LagSparesLogEnd = true
	v21.SameLeader = SameLeaderSameEpoch
	v21.ControllerEpochFence = true
	v21.HaltOnTruncation = false

	v24 := v21
	v24.Line, v24.Release = "2.4", "2.4.0"
	v24.HWPropagation = HWAnswers
	v24.HWAtLeastLogStart = true
	v24.UncleanElectionCommand = true
	v24.BounceDetection = true
	v24.FailoverOfflinesReplicas = true
	v24.LatestWaitsForEpochStart = true

	return []Rules{v08, v09, v010, v011, v20, v21, v24}
}()

// DefaultLine is the line of a script that names none.
const DefaultLine Line = "2.4"

// RulesOf is the rules of a line.
func RulesOf(l Line) (Rules, error) {
	for _, r := range lines {
		if r.Line == l {
			return r, nil
		}
	}
	return Rules{}, fmt.Errorf("protocol: no release line %q; there are %s", l, join(Lines()))
}

// Lines are the release lines, oldest first.
func Lines() []Line {
	var l []Line
	for _, r := range lines {
		l = append(l, r.Line)
	}
	return l
}

func join[T ~string](l []T) string {
	s := make([]string, len(l))
	for i := range l {
		s[i] = string(l[i])
	}
	return strings.Join(s, ", ")
}

// Rule is one entry that `rule NAME VALUE` can override.
type Rule struct {
	Name   string
	Doc    string
	Values []string
	set    func(*Rules, int)
	get    func(*Rules) int
}

func boolRule(name, doc string, f func(*Rules) *bool) Rule {
	return Rule{name, doc, []string{"off", "on"},
		func(r *Rules, i int) { *f(r) = i == 1 },
		func(r *Rules) int {
			if *f(r) {
				return 1
			}
			return 0
		}}
}

func enumRule[T ~uint8](name, doc string, values []string, f func(*Rules) *T) Rule {
	return Rule{name, doc, values, func(r *Rules, i int) { *f(r) = T(i) }, func(r *Rules) int { return int(*f(r)) }}
}

// RuleTable lists every rule that can be overridden.
var RuleTable = []Rule{
	enumRule("truncation", "what a new follower does with the end of its log", []string{"high-watermark", "one-round", "iterative", "fenced", "nothing"}, func(r *Rules) *Truncation { return &r.Truncation }),
	boolRule("fetch-fencing", "fetches carry the leader epoch and are refused when it is another", func(r *Rules) *bool { return &r.FetchFencing }),
	boolRule("stamp-epoch", "a new leader notes the start of its epoch at once", func(r *Rules) *bool { return &r.StampEpochAtElection }),
	boolRule("expand-at-epoch-start", "joining the ISR takes reaching the start of the leader's epoch", func(r *Rules) *bool { return &r.ExpandAtEpochStart }),
	boolRule("hw-counts-caught-up", "the HW waits for caught-up replicas outside the ISR too", func(r *Rules) *bool { return &r.HWCountsCaughtUp }),
	boolRule("caught-up-by-previous-fetch", "reaching the log end of the previous fetch counts as caught up then", func(r *Rules) *bool { return &r.CaughtUpByPreviousFetch }),
	boolRule("lag-spares-log-end", "a follower at the log end is never out of sync", func(r *Rules) *bool { return &r.LagSparesLogEnd }),
	boolRule("isr-check-half-lag", "the ISR is checked every half of replica.lag.time.max.ms", func(r *Rules) *bool { return &r.ISRCheckHalfLag }),
	enumRule("same-leader", "which LeaderAndIsr changes nothing for a follower", []string{"any-epoch", "next-epoch", "same-epoch"}, func(r *Rules) *SameLeader { return &r.SameLeader }),
	enumRule("keep-last-isr-member", "when the last ISR member stays although its broker is gone", []string{"unless-unclean", "always"}, func(r *Rules) *KeepLast { return &r.KeepLastISRMember }),
	enumRule("hw-propagation", "how a waiting follower learns of a new HW", []string{"wait", "answer"}, func(r *Rules) *HWPropagation { return &r.HWPropagation }),
	boolRule("bounce-detection", "a restarted broker is told from one that never left", func(r *Rules) *bool { return &r.BounceDetection }),
	boolRule("failover-offlines-replicas", "a new controller takes the replicas of dead brokers out of the ISRs", func(r *Rules) *bool { return &r.FailoverOfflinesReplicas }),
	enumRule("early-restart", "registration while the old session lives", []string{"refused", "accepted"}, func(r *Rules) *EarlyRestart { return &r.EarlyRestart }),
	boolRule("controller-epoch-fence", "controller writes check the version of /controller_epoch", func(r *Rules) *bool { return &r.ControllerEpochFence }),
	boolRule("min-isr-before-append", "acks=all is refused before the append when the ISR is too small", func(r *Rules) *bool { return &r.MinISRBeforeAppend }),
	boolRule("halt-on-truncation", "a follower ahead of its leader halts the broker when unclean election is off", func(r *Rules) *bool { return &r.HaltOnTruncation }),
	boolRule("latest-waits-for-epoch-start", "ListOffsets(latest) is refused while the HW is below the epoch's start", func(r *Rules) *bool { return &r.LatestWaitsForEpochStart }),
	boolRule("epoch-cache-repairs", "a new epoch drops the entries that contradict it, and epochs older than the log have an end", func(r *Rules) *bool { return &r.EpochCacheRepairs }),
	enumRule("isr-lag", "what takes a follower out of the ISR", []string{"messages", "time"}, func(r *Rules) *ISRLag { return &r.ISRLag }),
	boolRule("isr-change-notification", "leaders tell the controller of their ISR changes, and it tells the brokers", func(r *Rules) *bool { return &r.ISRChangeNotification }),
	boolRule("out-of-range-drops-log", "a follower out of range that finds the leader's log longer than its own drops its log", func(r *Rules) *bool { return &r.OutOfRangeDropsLog }),
	boolRule("shutdown-checks-alive", "a controlled shutdown hands over to an ISR member that is alive", func(r *Rules) *bool { return &r.ShutdownChecksAlive }),
	enumRule("read-above-hw", "what a consumer gets at an offset between HW and log end", []string{"error", "out-of-range", "nothing"}, func(r *Rules) *ReadAboveHW { return &r.ReadAboveHW }),
	boolRule("full-truncation-raises-hw", "a log that starts anew at the leader's log start has its HW there, too", func(r *Rules) *bool { return &r.FullTruncationRaisesHW }),
	boolRule("followers-trim-with-leader", "followers raise their log start to the leader's; off: every broker's retention moves its own", func(r *Rules) *bool { return &r.FollowersTrimWithLeader }),
	boolRule("hw-at-least-log-start", "a starting broker raises a HW that is below the log start", func(r *Rules) *bool { return &r.HWAtLeastLogStart }),
	boolRule("unclean-election-command", "an administrator can ask for an unclean election", func(r *Rules) *bool { return &r.UncleanElectionCommand }),
	boolRule("unclean-enabling-elects", "switching unclean election on gives partitions without a leader another chance at once", func(r *Rules) *bool { return &r.UncleanEnablingElects }),
	boolRule("calls-outlive-session", "what a broker asked of ZooKeeper in an expired session is asked again in the next", func(r *Rules) *bool { return &r.CallsOutliveSession }),
	boolRule("min-isr-before-answer", "acks=all is answered with an error when the ISR has become too small since the append", func(r *Rules) *bool { return &r.MinISRBeforeAnswer }),
	boolRule("keep-replica-of-dead-leader", "the HW of a replica whose leader is gone stays in the checkpoint file", func(r *Rules) *bool { return &r.KeepReplicaOfDeadLeader }),
	boolRule("reread-refused-isr-write", "a leader whose ISR write was refused looks whether it was its own write", func(r *Rules) *bool { return &r.RereadRefusedISRWrite }),
	enumRule("idempotence", "what a leader remembers of an idempotent producer's batches", []string{"off", "last-batch", "five-batches"}, func(r *Rules) *Idempotence { return &r.Idempotence }),
	boolRule("serve-after-registration", "a starting broker handles no request before it is registered", func(r *Rules) *bool { return &r.ServeAfterRegistration }),
	boolRule("hw-waits-for-isr", "the HW waits for every ISR member; off plants a bug", func(r *Rules) *bool { return &r.HWWaitsForISR }),
	boolRule("control-retries", "a control request without an answer is sent again; off plants a bug", func(r *Rules) *bool { return &r.ControlRetries }),
	boolRule("separate-connections", "requests and answers between two brokers may overtake each other; off makes the network kinder than TCP", func(r *Rules) *bool { return &r.SeparateConnections }),
}

// Override sets one rule by its name.
func (r *Rules) Override(name, value string) error {
	names := make([]string, 0, len(RuleTable))
	for _, rule := range RuleTable {
		if rule.Name != name {
			names = append(names, rule.Name)
			continue
		}
		i := slices.Index(rule.Values, value)
		if i < 0 {
			return fmt.Errorf("protocol: rule %s is one of %s, not %q", name, strings.Join(rule.Values, ", "), value)
		}
		rule.set(r, i)
		return nil
	}
	return fmt.Errorf("protocol: no rule %q; there are %s", name, strings.Join(names, ", "))
}

// Value is the present value of a rule.
func (rule Rule) Value(r *Rules) string { return rule.Values[rule.get(r)] }
