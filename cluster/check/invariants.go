package check

import (
	"slices"

	"tidemark/cluster/protocol"
)

// Invariant is one thing that must hold.
type Invariant struct {
	Name      string
	Statement string
	// Since is the first release line that upholds it; empty: all of them do. In earlier
	// lines a violation is Kafka's own.
	Since protocol.Line
	// Unconditional invariants hold also after an unclean election, a power cut or a wiped
	// disk.
	Unconditional bool
}

// The invariants, by name.
const (
	HWWithinLog        = "hw-within-log"
	HWRises            = "hw-rises"
	LeaderInISR        = "leader-in-isr"
	OneLeaderPerEpoch  = "one-leader-per-epoch"
	EpochsRise         = "epochs-rise"
	ISRAgrees          = "isr-agrees"
	SameEpochSameValue = "same-epoch-same-record"
	SameTailSamePrefix = "same-tail-same-prefix"
	LogEpochsRise      = "log-epochs-rise"
	CommittedAgrees    = "committed-agrees"
	CommittedStays     = "committed-stays"
	LogMatching        = "log-matching"
	WeakISR            = "weak-isr"
	StrongISR          = "strong-isr"
	LeaderComplete     = "leader-complete"
	AckedAllCommitted  = "acked-all-committed"
	AckedKept          = "acked-kept"
	ReadIsCommitted    = "read-is-committed"
	SequencesFollow    = "sequences-follow"
)

// fenced is the first line with all four rules of KIP-320: reconcile in every new epoch,
// fence the reconciliation, count fetches of the leader's epoch only, and let nobody into
// the ISR before the epoch's start.
const fenced protocol.Line = "2.1"

// Invariants lists them with their exact statements.
var Invariants = []Invariant{
	{Name: HWWithinLog, Statement: "a replica's high watermark is not above its log end", Unconditional: true},
	{Name: HWRises, Statement: "a leader's high watermark does not fall while it leads in one epoch", Unconditional: true},
	{Name: LeaderInISR, Statement: "a partition's leader, if there is one, is in the ISR, and the ISR is a subset of the assignment", Unconditional: true},
	{Name: OneLeaderPerEpoch, Statement: "in one leader epoch only one broker becomes leader of a partition", Unconditional: true},
	{Name: EpochsRise, Statement: "controller epochs in ZooKeeper rise with every election; leader epochs in ZooKeeper never fall", Unconditional: true},
	{Name: ISRAgrees, Statement: "the ISR that a leader has at a version of the state znode is the ISR in that version", Unconditional: true},
	{Name: SameEpochSameValue, Statement: "two logs with the same leader epoch at the same offset have the same record there"},
	{Name: SameTailSamePrefix, Statement: "two logs with the same leader epoch at the same offset are the same up to there", Since: fenced},
	{Name: LogEpochsRise, Statement: "leader epochs do not fall along a log", Since: fenced},
	{Name: CommittedAgrees, Statement: "what a leader commits at an offset is what was committed there before: a consumer never sees two records at one offset", Since: fenced},
	{Name: CommittedStays, Statement: "no member of the ISR in ZooKeeper cuts a committed record off its log", Since: fenced},
	{Name: LogMatching, Statement: "what a replica has below its high watermark is what was committed there, so that any two replicas agree below both of theirs", Since: fenced},
	{Name: WeakISR, Statement: "every member of a leader's own ISR has what that leader has below its high watermark", Since: fenced},
	{Name: StrongISR, Statement: "every member of the ISR in ZooKeeper has every committed record", Since: fenced},
	{Name: LeaderComplete, Statement: "whoever becomes leader in the epoch that ZooKeeper names has every committed record", Since: fenced},
	{Name: AckedAllCommitted, Statement: "a record acknowledged with acks=all is committed", Since: fenced},
	{Name: AckedKept, Statement: "at the end of a run the acting leader has every acknowledged record that was ever committed", Since: fenced},
	{Name: SequencesFollow, Statement: "what a leader appends of a producer id has the sequence number after the one before it in its log, or 0 if it is the first"},
	{Name: ReadIsCommitted, Statement: "a consumer gets committed records only", Since: fenced},
}

// Find finds an invariant by its name; it has to exist.
func Find(name string) *Invariant {
	return &Invariants[slices.IndexFunc(Invariants, func(i Invariant) bool { return i.Name == name })]
}

// HoldsIn reports whether a release line upholds the invariant.
func (i *Invariant) HoldsIn(line protocol.Line) bool {
	lines := protocol.Lines()
	return i.Since == "" || slices.Index(lines, line) >= slices.Index(lines, i.Since)
}
