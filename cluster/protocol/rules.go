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
)

// SameLeader is which decisions change nothing for a follower.
type SameLeader uint8

// The rules of "same leader".
const (
	SameLeaderAnyEpoch  SameLeader = iota // same leader id, whatever epochs were missed
	SameLeaderNextEpoch                   // same leader, epoch equal or one more (KAFKA-7164)
	SameLeaderSameEpoch                   // same leader and epoch
)

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

// lines is the table, oldest first.
var lines = []Rules{
	{
		Line: "0.10", Release: "0.10.2.2",
		Truncation:              TruncateToHighWatermark,
		HWCountsCaughtUp:        true,
		CaughtUpByPreviousFetch: true,
		ISRCheckHalfLag:         true,
		SameLeader:              SameLeaderAnyEpoch,
		KeepLastISRMember:       KeepLastUnlessUnclean,
		HWPropagation:           HWWaits,
		MinISRBeforeAppend:      true,
		HaltOnTruncation:        true,
		UncleanDefault:          true,
	},
	{
		Line: "2.4", Release: "2.4.0",
		Truncation:               TruncateFenced,
		FetchFencing:             true,
		StampEpochAtElection:     true,
		ExpandAtEpochStart:       true,
		HWCountsCaughtUp:         true,
		CaughtUpByPreviousFetch:  true,
		LagSparesLogEnd:          true,
		ISRCheckHalfLag:          true,
		SameLeader:               SameLeaderSameEpoch,
		KeepLastISRMember:        KeepLastAlways,
		HWPropagation:            HWAnswers,
		BounceDetection:          true,
		FailoverOfflinesReplicas: true,
		ControllerEpochFence:     true,
		MinISRBeforeAppend:       true,
		LatestWaitsForEpochStart: true,
	},
}

// KnownLines are the lines of the lab language, whether built or not.
var KnownLines = []Line{"0.8", "0.9", "0.10", "0.11", "2.0", "2.1", "2.4"}

// DefaultLine is the line of a script that names none.
const DefaultLine Line = "2.4"

// RulesOf is the rules of a line.
func RulesOf(l Line) (Rules, error) {
	for _, r := range lines {
		if r.Line == l {
			return r, nil
		}
	}
	if slices.Contains(KnownLines, l) {
		return Rules{}, fmt.Errorf("protocol: kafka %s is not supported yet", l)
	}
	return Rules{}, fmt.Errorf("protocol: no release line %q; there are %s", l, join(SupportedLines()))
}

// SupportedLines are the lines that have rules.
func SupportedLines() []Line {
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
	enumRule("truncation", "what a new follower does with the end of its log", []string{"high-watermark", "one-round", "iterative", "fenced"}, func(r *Rules) *Truncation { return &r.Truncation }),
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
