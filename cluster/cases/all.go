package cases

// All is every case, the closest to KIP-101 first.
var All = []Case{
	{
		ID: "KAFKA-1211", Title: "Two followers, two quick leader deaths",
		Source: "KAFKA-1211; KIP-101, scenario 1, in its form with a change of leader; TLA+ module KafkaTruncateToHighWatermark in hachikuji/kafka-specification",
		Shows:  "records acked by all are lost with no unclean election, because a new follower cuts to an HW that trails by a round",
		Runs:   []Run{{"KAFKA-1211.0.10", Fails}, {"KAFKA-1211.0.10.unclean", Fails}, {"KAFKA-1211.0.11", Fixed}},
	},
	{
		ID: "KIP-101-scenario-1", Title: "The follower restarts, cuts to its HW, and the leader dies",
		Source: "KIP-101, scenario 1; a comment in EpochDrivenReplicationProtocolAcceptanceTest (kafka 0baea2ac135)",
		Shows:  "as drawn in the KIP the controller keeps it from being a clean loss; with unclean election, or when the follower was the controller, it is one",
		Runs: []Run{{"KIP-101-scenario-1.0.10.unclean", Fails}, {"KIP-101-scenario-1.0.10.controller", Fails}, {"KIP-101-scenario-1.0.10", Fixed},
			{"KIP-101-scenario-1.0.11", Fixed}, {"KIP-101-scenario-1.0.11.controller", Fixed}},
	},
	{
		ID: "KIP-101-scenario-2", Title: "Power cut on both replicas, the wrong one comes back first",
		Source: "KIP-101, scenario 2; the same case in kafka 0baea2ac135",
		Shows:  "the ISR knows nothing of disks: one acked record is lost, and in the old lines the logs differ for ever",
		Runs:   []Run{{"KIP-101-scenario-2.0.10", Fails}, {"KIP-101-scenario-2.0.11", Fixed}},
	},
	{
		ID: "should-not-allow-divergent-logs", Title: "Ten messages, five lost on the leader, ten more written",
		Source: "EpochDrivenReplicationProtocolAcceptanceTest.shouldNotAllowDivergentLogs, kafka 0baea2ac135",
		Shows:  "equal log ends say nothing about equal logs",
		Runs:   []Run{{"should-not-allow-divergent-logs.0.10", Fails}, {"should-not-allow-divergent-logs.0.11", Fixed}},
	},
	{
		ID: "should-follow-leader-epoch-basic-workflow", Title: "Epochs in the log, the happy path",
		Source:  "EpochDrivenReplicationProtocolAcceptanceTest.shouldFollowLeaderEpochBasicWorkflow, kafka 0baea2ac135",
		Shows:   "a record carries the leader epoch in which it was written, and keeps it on every replica",
		Runs:    []Run{{"should-follow-leader-epoch-basic-workflow.0.11", Fixed}},
		Only:    "Nothing fails in it.",
		Missing: "That a leader notes its epoch at once since KAFKA-7415 cannot be seen in a log; what it is good for is in KAFKA-7415.",
	},
	{
		ID: "should-survive-fast-leader-change", Title: "Five rounds of bounce the follower, bounce the leader",
		Source: "EpochDrivenReplicationProtocolAcceptanceTest.shouldSurviveFastLeaderChange, kafka 0baea2ac135",
		Shows:  "waiting for the ISR closes the window of KAFKA-1211",
		Runs:   []Run{{"should-survive-fast-leader-change.0.10", Fixed}, {"should-survive-fast-leader-change.0.11", Fixed}},
		Only:   "Nothing fails in it, in any line; it is the counterpart of KAFKA-1211.",
	},
	{
		ID: "KAFKA-7415", Title: "Back-to-back elections: the leader does not know the follower's epoch",
		Source: "KAFKA-7415, kafka f2dd6aa2698",
		Shows:  "a leader that wrote nothing in its epoch must still note where it began",
		Runs:   []Run{{"KAFKA-7415.2.0", Fails}, {"KAFKA-7415.2.1", Fixed}},
	},
	{
		ID: "KAFKA-6880", Title: "Zombie replica: the end is right, the middle is wrong",
		Source: "KAFKA-6880; KIP-320",
		Shows:  "a follower that missed two changes of leader goes on as if nothing had been; the fence is in the fetch",
		Runs:   []Run{{"KAFKA-6880.0.10", Fails}, {"KAFKA-6880.0.11", Fails}, {"KAFKA-6880.2.0", Fails}, {"KAFKA-6880.2.1", Fixed}},
	},
	{
		ID: "KAFKA-10706", Title: "Truncation that never ends",
		Source: "KAFKA-10706, kafka bc96a8feb5d, test testTruncateToEndOffsetClearsEpochCache",
		Shows:  "an entry for an epoch without a record keeps a follower asking for ever; the price of KAFKA-7415 until 2.7",
		Runs:   []Run{{"KAFKA-10706.2.1", Fails}, {"KAFKA-10706.2.4", Fails}, {"KAFKA-10706.2.0", Fixed}},
	},
	{
		ID: "KAFKA-2143", Title: "An out-of-range race throws the whole log away",
		Source: "KAFKA-2143, a review comment in PR 129 with numbers, kafka 87eccb9a3be",
		Shows:  "a question asked too late gets an answer to another question",
		Runs:   []Run{{"KAFKA-2143.0.8", Fails}, {"KAFKA-2143.0.9", Fixed}, {"KAFKA-2143.0.11", Fixed}},
	},
	{
		ID: "KAFKA-1647", Title: "A lost HW checkpoint empties a follower",
		Source: "KAFKA-1647, kafka 1ed9cf6d036",
		Shows:  "where a follower cuts to its HW, a file without it costs the whole log",
		Runs:   []Run{{"KAFKA-1647.0.8", Fails}, {"KAFKA-1647.0.8.repaired", Fixed}},
	},
	{
		ID: "KAFKA-725", Title: "A consumer between HW and log end after a failover",
		Source: "KAFKA-725, kafka 4d467c2ec27",
		Shows:  "a new leader's HW trails, and a consumer can be ahead of it without anything being lost",
		Runs:   []Run{{"KAFKA-725.0.8", Fails}, {"KAFKA-725.0.10", Fails}, {"KAFKA-725.2.0", Fixed}},
	},
}
