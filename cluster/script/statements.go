package script

import (
	"errors"
	"fmt"
	"slices"

	"tidemark/cluster"
	"tidemark/cluster/protocol"
	"tidemark/cluster/sim"
)

// statement is what a statement's form does.
type statement struct {
	// atStart: it makes the cluster, so it can stand only before everything else.
	// setup: it can stand among those and adds to what the cluster is made from.
	atStart, setup bool
	// configure adds it to the configuration that the cluster is made from.
	configure func(cfg *cluster.Config, args []any)
	// command is what it does to a cluster.
	command func(args []any) cluster.Command
	// execute does everything else. Drives: it makes time pass, or goes back.
	execute func(s *Session, st Statement) (string, error)
	drives  bool
}

func makeStatements() []form {
	return []form{
		// Before time starts.
		{text: "kafka <line>", doc: "behave as that release line",
			check: func(ctx *Context, a []any) (int, error) {
				if ctx.anyLine {
					return 0, nil
				}
				_, err := protocol.RulesOf(protocol.Line(a[0].(string)))
				return 0, err
			},
			statement: &statement{atStart: true, configure: func(cfg *cluster.Config, a []any) { cfg.Line = protocol.Line(a[0].(string)) }}},
		{text: "rule <rule> <choice>", doc: "overrides one rule of the line",
			check: func(_ *Context, a []any) (int, error) {
				var r protocol.Rules
				return 1, r.Override(a[0].(string), a[1].(string))
			},
			statement: &statement{atStart: true, configure: func(cfg *cluster.Config, a []any) {
				cfg.Rules = append(cfg.Rules, cluster.RuleOverride{Name: a[0].(string), Value: a[1].(string)})
			}}},
		{text: "seed <seed>", doc: "seed of every random draw; without it 1",
			statement: &statement{atStart: true, configure: func(cfg *cluster.Config, a []any) { cfg.Seed = a[0].(uint64) }}},
		{text: "brokers <assignment> [, controller <id>]", doc: "the brokers, all started, and which of them won the first controller election; without it the lowest id",
			check: checkBrokers,
			statement: &statement{atStart: true, configure: func(cfg *cluster.Config, a []any) {
				cfg.Brokers = a[0].([]protocol.Broker)
				if a[1] != nil {
					cfg.Controller = a[1].(protocol.Broker)
				}
			}}},
		{text: "topic <new> on <assignment>", doc: "one partition with its assignment, whose order decides elections",
			check: func(ctx *Context, a []any) (int, error) {
				x := addPartition(a).(cluster.AddPartition)
				for _, b := range x.Replicas {
					if (!ctx.assumed || ctx.running) && !slices.Contains(ctx.brokers, b) {
						return 1, errors.New(missing("broker", fmt.Sprint(b), ctx.brokerNames()))
					}
				}
				return 0, ctx.checkPartition(x)
			},
			statement: &statement{setup: true, command: addPartition, configure: func(cfg *cluster.Config, a []any) {
				cfg.Partitions = append(cfg.Partitions, addPartition(a).(cluster.AddPartition))
			}}},
		{text: "set <producer> acks <acks>", doc: "change a producer's acks",
			statement: &statement{setup: true, command: func(a []any) cluster.Command { return cluster.SetAcks{Producer: a[0].(string), Acks: a[1].(int8)} }}},
		{text: "set <key> <setting>", doc: "a configuration key under its own name; a static one only before the cluster runs",
			check: func(ctx *Context, a []any) (int, error) {
				return checkSetting(ctx, "", a[0].(string), a[1].(string), 0)
			},
			statement: &statement{setup: true,
				command: func(a []any) cluster.Command { return cluster.Set{Key: a[0].(string), Value: a[1].(string)} },
				configure: func(cfg *cluster.Config, a []any) {
					cfg.Settings = append(cfg.Settings, cluster.Set{Key: a[0].(string), Value: a[1].(string)})
				}}},
		{text: "set <topic> <key> <setting>", doc: "the same for one topic",
			check: func(ctx *Context, a []any) (int, error) {
				return checkSetting(ctx, a[0].(string), a[1].(string), a[2].(string), 1)
			},
			statement: &statement{setup: true,
				command: func(a []any) cluster.Command {
					return cluster.Set{Topic: a[0].(string), Key: a[1].(string), Value: a[2].(string)}
				},
				configure: func(cfg *cluster.Config, a []any) {
					cfg.Settings = append(cfg.Settings, cluster.Set{Topic: a[0].(string), Key: a[1].(string), Value: a[2].(string)})
				}}},
		{text: "producer <name> acks <acks> to <partition> <producer-options>", doc: "a producer; options: retries 0, timeout 30s, inflight 5, idempotent",
			check: checkProducer,
			statement: &statement{setup: true, command: func(a []any) cluster.Command {
				o := a[3].(producerOptions)
				return cluster.AddProducer{Name: a[0].(string), Acks: a[1].(int8), Partition: a[2].(protocol.TopicPartition), Retries: o.retries, Timeout: o.timeout, Inflight: o.inflight, Idempotent: o.idempotent}
			}}},
		{text: "reader <name> on <partition> <reader-options>", doc: "a consumer; options: from 0 (without it the earliest), reset earliest|latest|none (without it latest), manual",
			check: func(ctx *Context, a []any) (int, error) { return 0, ctx.checkClient(a[0].(string)) },
			statement: &statement{setup: true, command: func(a []any) cluster.Command {
				o := a[2].(readerOptions)
				return cluster.AddReader{Name: a[0].(string), Partition: a[1].(protocol.TopicPartition), From: o.from, Reset: o.reset, Manual: o.manual}
			}}},

		// Actions.
		command("send <producer> <values>", "records, one a request, in this order", func(a []any) cluster.Command {
			return cluster.Send{Producer: a[0].(string), Values: a[1].([]string)}
		}),
		command("send <producer> <count>", "that many records, named by the producer's counter", func(a []any) cluster.Command {
			return cluster.SendNumbered{Producer: a[0].(string), Count: a[1].(int)}
		}),
		command("batch <producer> <values>", "records in one request", func(a []any) cluster.Command {
			return cluster.Send{Producer: a[0].(string), Values: a[1].([]string), Batch: true}
		}),
		command("stream <producer> every <duration>", "steady load", func(a []any) cluster.Command {
			return cluster.Stream{Producer: a[0].(string), Every: a[1].(sim.Time)}
		}),
		command("stop stream <producer>", "ends a stream", func(a []any) cluster.Command { return cluster.StopStream{Producer: a[0].(string)} }),
		command("poll <reader>", "a manual consumer polls once", func(a []any) cluster.Command { return cluster.Poll{Reader: a[0].(string)} }),
		command("seek <reader> <number>", "sets a consumer's position", func(a []any) cluster.Command {
			return cluster.Seek{Reader: a[0].(string), Offset: protocol.Offset(a[1].(int))}
		}),
		command("commit <reader>", "a consumer commits its position", func(a []any) cluster.Command { return cluster.Commit{Reader: a[0].(string)} }),
		onBrokers("stop broker <brokers>", "crash: the process dies, its files and page cache stay", func(b []protocol.Broker) cluster.Command { return cluster.StopBrokers{Brokers: b} }),
		onBrokers("shut down broker <brokers>", "controlled shutdown: leadership is handed over first", func(b []protocol.Broker) cluster.Command { return cluster.ShutDownBrokers{Brokers: b} }),
		command("power off <brokers> [keeping <number> of <partition>]", "crash, and what was not flushed is lost", func(a []any) cluster.Command {
			x := cluster.PowerOff{Brokers: a[0].([]protocol.Broker), Keep: -1}
			if a[1] != nil {
				x.Keep, x.Partition = a[1].(int), a[2].(protocol.TopicPartition)
			}
			return x
		}),
		command("wipe checkpoint of <broker>", "a stopped broker loses its file of checkpointed HWs", func(a []any) cluster.Command {
			return cluster.Wipe{Broker: a[0].(protocol.Broker), CheckpointOnly: true}
		}),
		command("wipe <broker>", "a stopped broker gets an empty disk", func(a []any) cluster.Command { return cluster.Wipe{Broker: a[0].(protocol.Broker)} }),
		onBrokers("start broker <brokers>", "start the process", func(b []protocol.Broker) cluster.Command { return cluster.StartBrokers{Brokers: b} }),
		onBrokers("freeze broker <brokers>", "a long pause: nothing runs", func(b []protocol.Broker) cluster.Command { return cluster.Freeze{Brokers: b} }),
		onBrokers("thaw broker <brokers>", "the end of the pause", func(b []protocol.Broker) cluster.Command { return cluster.Thaw{Brokers: b} }),
		onLink("cut <link>", "a link loses everything, what is in flight included", func(l cluster.Link) cluster.Command { return cluster.Cut{Link: l} }),
		command("heal", "undoes all cuts", func([]any) cluster.Command { return cluster.Heal{} }),
		onLink("heal <link>", "undoes one cut", func(l cluster.Link) cluster.Command { return cluster.Heal{Link: &l} }),
		command("isolate <broker>", "cut from every broker and ZooKeeper; clients still reach it", func(a []any) cluster.Command { return cluster.Isolate{Broker: a[0].(protocol.Broker)} }),
		command("slow disk of <broker> by <extra>", "adds to the time of every append there: a follower lags, a leader acks later; 0ms ends it", func(a []any) cluster.Command {
			return cluster.SlowDisk{Broker: a[0].(protocol.Broker), By: a[1].(sim.Time)}
		}),
		command("slow <link> by <extra>", "adds to the latency of a link; 0ms ends it", func(a []any) cluster.Command {
			return cluster.Slow{Link: a[0].(cluster.Link), By: a[1].(sim.Time)}
		}),
		onBrokers("hold fetches of <brokers>", "the followers send no further fetch", func(b []protocol.Broker) cluster.Command { return cluster.HoldFetches{Brokers: b} }),
		onBrokers("release fetches of <brokers>", "they fetch again", func(b []protocol.Broker) cluster.Command { return cluster.ReleaseFetches{Brokers: b} }),
		onBrokers("hold control to <brokers>", "control requests wait in the controller's queue", func(b []protocol.Broker) cluster.Command { return cluster.HoldControl{Brokers: b} }),
		onBrokers("release control to <brokers>", "they are sent again", func(b []protocol.Broker) cluster.Command { return cluster.ReleaseControl{Brokers: b} }),
		onLink("hold <link>", "nothing on the link is delivered, what is in flight included; order is kept", func(l cluster.Link) cluster.Command { return cluster.Hold{Link: l} }),
		onLink("release <link>", "what was held arrives", func(l cluster.Link) cluster.Command { return cluster.Release{Link: l} }),
		command("drop next answer|fetch|control <link>", "that one message is lost when it is sent, and nobody is told; answers to metadata requests and pings do not count", func(a []any) cluster.Command {
			class, _ := protocol.ParseDropClass(a[0].(string))
			return cluster.DropNext{Class: class, Link: a[1].(cluster.Link)}
		}),
		command("drop next zookeeper answer to <broker>", "that one answer is lost, but for answers to pings", func(a []any) cluster.Command {
			return cluster.DropNext{Class: protocol.DropAnswer, Link: cluster.Link{From: "zookeeper", To: writeBroker(a[0])}}
		}),
		command("deliver next <message> <link>", "that one message arrives now, though its link is held or it would take longer; it must be the first one under way on its connection", func(a []any) cluster.Command {
			return cluster.Deliver{Message: a[0].(protocol.MessageKind), Link: a[1].(cluster.Link)}
		}),
		onBrokers("expire session of <brokers>", "ZooKeeper ends the session; the process lives", func(b []protocol.Broker) cluster.Command { return cluster.ExpireSession{Brokers: b} }),
		onBrokers("flush broker <brokers>", "write the logs to disk", func(b []protocol.Broker) cluster.Command { return cluster.Flush{Brokers: b} }),
		onBrokers("checkpoint broker <brokers>", "write the file of HWs", func(b []protocol.Broker) cluster.Command { return cluster.Checkpoint{Brokers: b} }),
		command("elect preferred <partition>", "the admin command", func(a []any) cluster.Command {
			return cluster.ElectPreferred{Partition: a[0].(protocol.TopicPartition)}
		}),
		command("elect unclean <partition>", "the admin command for an offline partition, with or without unclean.leader.election.enable; since 2.4", func(a []any) cluster.Command {
			return cluster.ElectUnclean{Partition: a[0].(protocol.TopicPartition)}
		}),
		command("reassign <partition> to <brokers>", "gives it that assignment, in that order, when the new replicas have caught up", func(a []any) cluster.Command {
			return cluster.Reassign{Partition: a[0].(protocol.TopicPartition), Replicas: a[1].([]protocol.Broker)}
		}),
		command("trim <partition> to <number>", "moves the log start, as retention does; at most to the HW", func(a []any) cluster.Command {
			return cluster.Trim{Partition: a[0].(protocol.TopicPartition), To: protocol.Offset(a[1].(int))}
		}),

		// Time.
		{text: "run <duration>", doc: "virtual time passes", statement: &statement{drives: true, execute: runFor}},
		{text: "run until next <event>", doc: "until that event happens anew", statement: &statement{drives: true, execute: runUntilNext}},
		{text: "run until seen <sequence> [within <duration>]", doc: "until that has happened, looking back too", statement: &statement{drives: true, execute: runUntilSeen}},
		{text: "run until <conditions> [within <duration>]", doc: fmt.Sprintf("up to the first step after which it is true; a failure after %ds of virtual time, or the duration given", UntilLimit/sim.Second), statement: &statement{drives: true, execute: runUntil}},
		{text: "settle", doc: "until the cluster is at rest", statement: &statement{drives: true, execute: settle}},
		{text: "step [<steps>]", doc: "that many scheduler steps, or one", statement: &statement{drives: true, execute: takeSteps}},
		{text: "mark <newmark>", doc: "a point to come back to", statement: &statement{execute: mark}},
		{text: "rewind <mark>", doc: "goes back to the mark and starts a new branch", statement: &statement{drives: true, execute: rewind}},

		// Assertions and output.
		{text: "expect lane <rest>", doc: "in a comparison, in the lane of that name; a run of one cluster has none", check: noLane, statement: &statement{}},
		{text: "expect seen <sequence>", doc: "it has happened since the start or the last rewind", statement: &statement{execute: expectSeen}},
		{text: "expect never <sequence>", doc: "it has not", statement: &statement{execute: expectNever}},
		{text: "expect <conditions>", doc: "it is true now", statement: &statement{execute: expect}},
		{text: "show brokers", doc: "processes, sessions, the controller", statement: &statement{execute: showBrokers}},
		{text: "show zookeeper", doc: "znodes and sessions", statement: &statement{execute: showZooKeeper}},
		{text: "show ledger", doc: "what became of every record", statement: &statement{execute: showLedger}},
		{text: "show invariants", doc: "what the checker found: violations and Kafka's own reasons for them", statement: &statement{execute: showInvariants}},
		{text: "show events <count>", doc: "the last events of the story", statement: &statement{execute: showEvents}},
		{text: "show <partition>", doc: "its replicas and their logs", statement: &statement{execute: showPartition}},
	}
}

func command(text, doc string, build func(a []any) cluster.Command) form {
	return form{text: text, doc: doc, check: checkSend, statement: &statement{command: build}}
}

func onBrokers(text, doc string, build func([]protocol.Broker) cluster.Command) form {
	return command(text, doc, func(a []any) cluster.Command { return build(a[0].([]protocol.Broker)) })
}

func onLink(text, doc string, build func(cluster.Link) cluster.Command) form {
	return command(text, doc, func(a []any) cluster.Command { return build(a[0].(cluster.Link)) })
}

func addPartition(a []any) cluster.Command {
	return cluster.AddPartition{Partition: a[0].(protocol.TopicPartition), Replicas: a[1].([]protocol.Broker)}
}

// checkSend looks for values that were sent before.
func checkSend(ctx *Context, a []any) (int, error) {
	if len(a) < 2 || ctx.values == nil {
		return 0, nil
	}
	values, _ := a[1].([]string)
	seen := map[string]bool{}
	for _, v := range values {
		if ctx.values[v] || seen[v] {
			return 1, fmt.Errorf("the value %q is sent twice; values are unique in a run", v)
		}
		seen[v] = true
	}
	return 0, nil
}

// checkProducer looks whether its options can stand together. That the release line has
// idempotent producers is found when one is made: the line may be decided elsewhere.
func checkProducer(ctx *Context, a []any) (int, error) {
	acks, o := a[1].(int8), a[3].(producerOptions)
	switch {
	case !o.idempotent:
	case acks != protocol.AcksAll:
		return 1, errors.New("an idempotent producer takes acks all")
	case o.retries < 1:
		return 3, errors.New("an idempotent producer takes retries of 1 or more")
	case o.inflight > cluster.MaxIdempotentInflight:
		return 3, fmt.Errorf("an idempotent producer takes inflight of at most %d", cluster.MaxIdempotentInflight)
	}
	return 0, ctx.checkClient(a[0].(string))
}

func checkBrokers(ctx *Context, a []any) (int, error) {
	ids := a[0].([]protocol.Broker)
	if len(ids) > protocol.MaxBrokers {
		return 0, fmt.Errorf("a cluster has at most %d brokers", protocol.MaxBrokers)
	}
	for _, p := range ctx.partitions {
		for _, b := range p.Replicas {
			if !ctx.running && !slices.Contains(ids, b) {
				return 0, fmt.Errorf("broker %d is missing; %s is assigned to it", b, p.Partition)
			}
		}
	}
	if c, ok := a[1].(protocol.Broker); ok && !slices.Contains(ids, c) {
		return 1, fmt.Errorf("the controller is one of the brokers %s, not %d", writeBrokers(ids), c)
	}
	return 0, nil
}

// checkSetting tries a setting out; at is the argument that holds the key.
func checkSetting(ctx *Context, topic, key, value string, at int) (int, error) {
	k, ok := protocol.FindSetting(key)
	if !ok {
		return at, fmt.Errorf("there is no setting %s", key) // complained about by the hole
	}
	if ctx.running && k.Static {
		return at, fmt.Errorf("%s is static: a broker reads it when it starts, so it can be set only before the cluster runs", key)
	}
	if topic != "" && !k.Topic {
		return at, fmt.Errorf("%s cannot be set for one topic", key)
	}
	var s protocol.Settings
	return at + 1, s.Set(topic, key, value)
}
