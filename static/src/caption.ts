// Pure. One precise sentence for every kind of event, in the reader's language.
// The sentence says who did what and, where that helps, why.

import { formatTime } from "./clock";
import type { Params, Text } from "./i18n";
import { type Body, type Event, type MessageState, type Snapshot, isBroker, isZooKeeper } from "./state";

/** Groups of kinds: the coloured tag before a sentence. */
export type Tag = "you" | "client" | "log" | "hw" | "isr" | "zookeeper" | "controller" | "network" | "fault" | "replica" | "machine";

/** What a sentence may want to know beyond its event. */
export interface Context {
  state: Snapshot; // after the event
  message?: MessageState | undefined; // the one that a transport event is about, as it was before
  hwBefore?: number | undefined; // of the replica whose high watermark or log changed
  leoBefore?: number | undefined;
  isrBefore?: number[] | undefined;
}

interface Entry { tag: Tag; rank: number }

// Rank decides which of several sentences is shown when much happens at once; 0 is machinery.
const entries: Record<string, Entry> = {
  statement_executed: { tag: "you", rank: 5 },
  run_began: { tag: "machine", rank: 2 },
  setting_changed: { tag: "you", rank: 3 },
  broker_added: { tag: "machine", rank: 1 },
  partition_added: { tag: "machine", rank: 2 },
  producer_added: { tag: "client", rank: 2 },
  producer_changed: { tag: "client", rank: 3 },
  reader_added: { tag: "client", rank: 2 },
  stream_started: { tag: "client", rank: 3 },
  stream_stopped: { tag: "client", rank: 3 },
  process_started: { tag: "machine", rank: 0 },
  timer_fired: { tag: "machine", rank: 0 },
  message_sent: { tag: "network", rank: 0 },
  message_delivered: { tag: "network", rank: 0 },
  message_lost: { tag: "network", rank: 4 },
  message_held: { tag: "network", rank: 3 },
  message_released: { tag: "network", rank: 3 },
  connection_closed: { tag: "network", rank: 0 },
  broker_started: { tag: "fault", rank: 7 },
  broker_stopped: { tag: "fault", rank: 8 },
  broker_frozen: { tag: "fault", rank: 8 },
  broker_thawed: { tag: "fault", rank: 7 },
  link_cut: { tag: "fault", rank: 7 },
  link_healed: { tag: "fault", rank: 6 },
  link_held: { tag: "fault", rank: 6 },
  link_released: { tag: "fault", rank: 6 },
  link_slowed: { tag: "fault", rank: 6 },
  drop_armed: { tag: "fault", rank: 6 },
  disk_slowed: { tag: "fault", rank: 6 },
  fetches_held: { tag: "fault", rank: 6 },
  fetches_released: { tag: "fault", rank: 6 },
  control_held: { tag: "fault", rank: 6 },
  control_released: { tag: "fault", rank: 6 },
  session_opened: { tag: "zookeeper", rank: 3 },
  session_closed: { tag: "zookeeper", rank: 5 },
  session_expired: { tag: "zookeeper", rank: 8 },
  znode_created: { tag: "zookeeper", rank: 3 },
  znode_changed: { tag: "zookeeper", rank: 3 },
  znode_deleted: { tag: "zookeeper", rank: 4 },
  assignment_changed: { tag: "zookeeper", rank: 6 },
  watch_fired: { tag: "zookeeper", rank: 0 },
  zookeeper_connected: { tag: "zookeeper", rank: 0 },
  zookeeper_disconnected: { tag: "zookeeper", rank: 5 },
  zookeeper_session_lost: { tag: "zookeeper", rank: 6 },
  broker_registered: { tag: "zookeeper", rank: 5 },
  registration_refused: { tag: "zookeeper", rank: 6 },
  controller_elected: { tag: "controller", rank: 8 },
  controller_resigned: { tag: "controller", rank: 6 },
  broker_failure_noticed: { tag: "controller", rank: 7 },
  broker_startup_noticed: { tag: "controller", rank: 6 },
  leader_elected: { tag: "controller", rank: 9 },
  partition_went_offline: { tag: "controller", rank: 9 },
  controller_shrank_isr: { tag: "isr", rank: 7 },
  leader_epoch_raised: { tag: "controller", rank: 6 },
  control_rejected: { tag: "controller", rank: 6 },
  became_leader: { tag: "replica", rank: 7 },
  became_follower: { tag: "replica", rank: 5 },
  replica_stopped: { tag: "replica", rank: 4 },
  log_created: { tag: "log", rank: 0 },
  log_recovered: { tag: "log", rank: 5 },
  log_appended: { tag: "log", rank: 4 },
  log_truncated: { tag: "log", rank: 8 },
  log_tail_lost: { tag: "log", rank: 8 },
  log_trimmed: { tag: "log", rank: 6 },
  log_restarted: { tag: "log", rank: 8 },
  log_flushed: { tag: "log", rank: 0 },
  log_wiped: { tag: "log", rank: 6 },
  log_deleted: { tag: "log", rank: 6 },
  high_watermark_advanced: { tag: "hw", rank: 5 },
  high_watermark_lowered: { tag: "hw", rank: 7 },
  high_watermark_checkpointed: { tag: "hw", rank: 0 },
  checkpoint_wiped: { tag: "hw", rank: 5 },
  follower_progressed: { tag: "replica", rank: 3 },
  isr_update_sent: { tag: "isr", rank: 0 },
  isr_update_blocked: { tag: "isr", rank: 6 },
  isr_update_refused: { tag: "isr", rank: 6 },
  isr_shrunk: { tag: "isr", rank: 8 },
  isr_expanded: { tag: "isr", rank: 8 },
  fetch_parked: { tag: "replica", rank: 0 },
  fetch_unparked: { tag: "replica", rank: 0 },
  produce_parked: { tag: "replica", rank: 4 },
  produce_unparked: { tag: "replica", rank: 0 },
  fetch_rejected: { tag: "replica", rank: 6 },
  record_queued: { tag: "client", rank: 3 },
  record_sent: { tag: "client", rank: 4 },
  record_acked: { tag: "client", rank: 6 },
  record_assumed: { tag: "client", rank: 4 },
  record_failed: { tag: "client", rank: 7 },
  produce_refused: { tag: "client", rank: 6 },
  leader_learned: { tag: "client", rank: 4 },
  record_read: { tag: "client", rank: 4 },
  read_nothing: { tag: "client", rank: 0 },
  reader_moved: { tag: "client", rank: 5 },
  reader_refused: { tag: "client", rank: 5 },
  producer_id_assigned: { tag: "client", rank: 4 },
  producer_id_dropped: { tag: "client", rank: 6 },
  duplicate_recognised: { tag: "replica", rank: 7 },
  position_committed: { tag: "client", rank: 4 },
};

/** kinds lists the kinds of event that there are sentences for. */
export function kinds(): string[] {
  return Object.keys(entries);
}

/** rankOf is how much an event matters; 0 for machinery. */
export function rankOf(e: Event): number {
  return entries[e.kind]?.rank ?? 1;
}

/** isStory tells the steps of the story from machinery (cluster/trace: Kind.Quiet). */
export function isStory(e: Event): boolean {
  return rankOf(e) > 0;
}

export function tagOf(e: Event): Tag {
  return entries[e.kind]?.tag ?? "machine";
}

/** caption says in one sentence what happened. */
export function caption(e: Event, c: Context, t: Text): string {
  const who = (name: string | undefined) => nameOf(name ?? "", c.state, t);
  const p: Params = {
    node: who(e.node), peer: who(e.peer), id: e.node ?? "", peerId: e.peer ?? "",
    partition: e.partition ?? "", offset: e.offset ?? "", hw: e.hw ?? "", epoch: e.epoch ?? "",
    controllerEpoch: e.controllerEpoch ?? "", leader: e.leader ?? "", isr: brokers(e.isr), replicas: brokers(e.replicas),
    producerId: e.producerId ?? "", sequence: e.sequence ?? "",
    path: e.path ?? "", text: e.text ?? "", error: e.error ?? "", version: e.version ?? "",
    acks: e.acks === -1 ? "all" : (e.acks ?? ""), values: valuesText(e.values, t), duration: durationText(e.at ?? 0),
  };
  return sentence(t(keyOf(e, c, p, t, who), p));
}

/** keyOf picks the text for an event, and adds the parameters that only that text needs. */
function keyOf(e: Event, c: Context, p: Params, t: Text, who: (name: string | undefined) => string): string {
  const base = `event.${e.kind}`;
  switch (e.kind) {
    case "message_sent":
      return sentKey(e as Body & Event, c, p, t);
    case "message_delivered": case "message_lost": case "message_held": case "message_released":
      p["what"] = c.message ? messageName(c.message, t) : t("what.message");
      return e.kind === "message_lost" && e.how ? `${base}.${e.how.replace(" ", "_")}` : base;
    case "broker_stopped":
      return `${base}.${e.how || "crash"}`;
    case "broker_thawed":
      return base;
    case "link_slowed": case "disk_slowed":
      return e.at ? base : `${base}.end`;
    case "drop_armed":
      return `${base}.${e.text}`;
    case "znode_created":
      p["owner"] = who(c.state.sessions.find((s) => s.id === e.session)?.node);
      return e.session ? `${base}.ephemeral` : base;
    case "leader_elected":
      return `${base}.${e.how || "clean"}`;
    case "leader_learned":
      return (e.leader ?? -1) < 0 ? `${base}.none` : base;
    case "log_truncated":
      p["count"] = (c.leoBefore ?? e.offset ?? 0) - (e.offset ?? 0);
      p["range"] = offsetsText(e.offset ?? 0, Number(p["count"]), t);
      return `${base}.${(e.how || "high watermark").replace(" ", "_")}`;
    case "log_tail_lost":
      p["range"] = offsetsText(e.offset ?? 0, (c.leoBefore ?? e.offset ?? 0) - (e.offset ?? 0), t);
      return base;
    case "log_appended": {
      const r = c.state.replicas.find((x) => x.broker === e.node && x.partition === e.partition);
      p["range"] = offsetsText(e.offset ?? 0, e.values?.length ?? 0, t);
      return r?.role === "leader" ? `${base}.leader` : base;
    }
    case "high_watermark_advanced": {
      const r = c.state.replicas.find((x) => x.broker === e.node && x.partition === e.partition);
      p["before"] = c.hwBefore ?? "";
      p["members"] = brokers(r?.isr);
      if (r?.role === "leader") return r.isr.length === 1 ? `${base}.alone` : `${base}.leader`;
      return base;
    }
    case "high_watermark_lowered":
      p["before"] = c.hwBefore ?? "";
      return base;
    case "isr_shrunk": case "isr_expanded": {
      const before = c.isrBefore ?? [];
      const [more, less] = e.kind === "isr_expanded" ? [e.isr ?? [], before] : [before, e.isr ?? []];
      p["who"] = brokers(more.filter((b) => !less.includes(b)));
      return p["who"] ? base : `${base}.plain`;
    }
    case "produce_parked":
      return base;
    case "producer_added":
      return e.how === "idempotent" ? `${base}.idempotent` : base;
    case "record_sent":
      return (e.producerId ?? -1) >= 0 ? `${base}.sequence` : base;
    case "duplicate_recognised":
      p["range"] = offsetsText(e.offset ?? 0, e.values?.length ?? 0, t);
      return base;
    case "record_acked": {
      const producer = c.state.producers.find((x) => x.node === e.node);
      p["range"] = offsetsText(e.offset ?? 0, e.values?.length ?? 0, t);
      return producer?.acks === 1 ? `${base}.leader` : base;
    }
    case "record_read":
      p["range"] = offsetsText(e.offset ?? 0, e.values?.length ?? 0, t);
      return base;
    case "reader_moved":
      return e.how === "reset" ? `${base}.reset` : base;
  }
  return base;
}

function sentKey(e: Body & Event, c: Context, p: Params, t: Text): string {
  const part = e.parts?.find((x) => x.values?.length) ?? e.parts?.[0];
  p["partition"] = part?.partition ?? "";
  p["offset"] = part?.offset ?? "";
  p["hw"] = part?.hw ?? "";
  p["epoch"] = part?.epoch ?? "";
  p["leader"] = part?.leader ?? "";
  p["isr"] = brokers(part?.isr);
  p["values"] = valuesText(part?.values, t);
  p["error"] = e.error ?? "";
  p["text"] = e.text ?? "";
  p["what"] = t(`what.${e.what}`);
  if (e.error) return "event.message_sent.error";
  switch (e.what) {
    case "fetch":
      return isBroker(e.node!) ? "event.message_sent.fetch.follower" : "event.message_sent.fetch";
    case "fetch_answer":
      if (part && part.hw === undefined) return "event.message_sent.fetch_answer.stranger";
      if (!part?.values?.length) return "event.message_sent.fetch_answer.empty";
      p["range"] = offsetsText(part.offset ?? 0, part.values.length, t);
      return "event.message_sent.fetch_answer";
    case "leader_and_isr":
      return part && part.leader === -1 ? "event.message_sent.leader_and_isr.none" : "event.message_sent.leader_and_isr";
    case "epoch":
      return p["epoch"] === "" ? "event.message_sent.epoch.none" : "event.message_sent.epoch";
    case "epoch_answer":
      return p["epoch"] === "" ? "event.message_sent.epoch_answer.none" : "event.message_sent.epoch_answer";
    case "produce": case "produce_answer": case "zookeeper": case "zookeeper_answer":
    case "zookeeper_watch": case "controlled_shutdown": case "update_metadata": case "metadata": case "init_producer_id":
      if (e.what === "produce") p["acks"] = e.acks === -1 ? "all" : (e.acks ?? "");
      return `event.message_sent.${e.what}`;
  }
  return "event.message_sent";
}

/** messageName names a message in a few words: "the fetch from offset 8". */
export function messageName(m: Body, t: Text): string {
  const part = m.parts.find((x) => x.values?.length) ?? m.parts[0];
  if (m.what === "fetch" && part?.offset !== undefined) return t("what.fetch.at", { offset: part.offset });
  if (m.what === "fetch_answer") {
    if (part?.values?.length) return t("what.fetch_answer.records", { range: offsetsText(part.offset ?? 0, part.values.length, t) });
    return t("what.fetch_answer.empty");
  }
  if (m.what === "produce" && part?.values?.length) return t("what.produce.values", { values: valuesText(part.values, t) });
  return t(`what.${m.what}`);
}

/** nameOf is what a node is called in a sentence. */
export function nameOf(name: string, s: Snapshot, t: Text): string {
  if (!name) return t("name.nobody");
  if (isBroker(name)) return t("name.broker", { id: name });
  if (isZooKeeper(name)) return "ZooKeeper";
  if (s.readers.some((r) => r.node === name)) return t("name.consumer", { id: name });
  return t("name.producer", { id: name });
}

/** brokers lists broker ids: 1, 2, 3. */
export function brokers(ids: number[] | undefined): string {
  return (ids ?? []).join(", ");
}

/** offsetsText names a run of offsets: "offset 7", "offsets 7–9". */
export function offsetsText(first: number, count: number, t: Text): string {
  if (count <= 1) return t("offset.one", { first });
  return t("offset.many", { first, last: first + count - 1, count });
}

/** valuesText lists record values, at most three of them. */
export function valuesText(values: string[] | undefined, t: Text): string {
  const l = (values ?? []).map((v) => (v.length > 24 ? `${v.slice(0, 23)}…` : v));
  if (l.length <= 3) return l.join(t("list.comma"));
  return t("values.many", { first: l[0]!, last: l[l.length - 1]!, count: l.length });
}

/** durationText writes a duration: 500 ms, 6 s. */
export function durationText(us: number): string {
  if (us < 1_000_000) return `${Math.round(us / 1000)} ms`;
  return formatTime(us).replace(/\.?0+ s$/, " s");
}

// A sentence may begin with a name that is lower case within one.
function sentence(s: string): string {
  return /^(broker |producer |consumer |controller |a |the )/.test(s) ? s[0]!.toUpperCase() + s.slice(1) : s;
}
