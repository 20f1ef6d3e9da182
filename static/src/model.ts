// Pure. The fold of events into the state of the cluster, the same as
// cluster/trace/apply.go does in Go: whoever has the stream has the state. The
// tests compare the two over real runs.

import {
  type BrokerState, type DropClass, type Event, type LinkState, type MessageState, type ReaderState, type RecordState, type ReplicaState,
  type Snapshot, type EpochRuns, isBroker, isZooKeeper,
} from "./state";

/** emptySnapshot is the state before the first event. */
export function emptySnapshot(kafka = ""): Snapshot {
  return {
    seq: 0, time: 0, kafka, partitions: [], brokers: [], replicas: [], znodes: [], sessions: [], messages: [],
    producers: [], readers: [], records: [], links: [], parked: [],
  };
}

/** Model is a state that events are folded into, in order. */
export class Model {
  readonly state: Snapshot;
  private readonly ledger = new Map<string, RecordState>(); // by value
  private readonly clients: string[]; // in the order in which they were made

  constructor(state: Snapshot) {
    this.state = state;
    // A snapshot does not say in which order a producer and a reader were made. That
    // matters only for the order of two links of one node.
    this.clients = [...state.producers, ...state.readers].map((c) => c.node);
    for (const r of state.records) this.ledger.set(r.value, r);
  }

  broker(id: string | undefined): BrokerState | undefined {
    return this.state.brokers.find((b) => b.id === id);
  }

  replica(broker: string | undefined, partition: string | undefined): ReplicaState | undefined {
    return this.state.replicas.find((r) => r.broker === broker && r.partition === partition);
  }

  message(id: number | undefined): MessageState | undefined {
    const i = this.messageIndex(id ?? -1);
    return i < 0 ? undefined : this.state.messages[i];
  }

  record(value: string): RecordState | undefined {
    return this.ledger.get(value);
  }

  /** apply folds one event into the state. */
  apply(e: Event): void {
    const s = this.state;
    s.seq = e.seq;
    s.time = e.time;
    switch (e.kind) {
      case "broker_added":
        insert(s.brokers, {
          id: e.node!, state: "up", session: 0, connected: false, registered: false, controller: false,
          fetchesHeld: false, controlHeld: false, diskSlow: 0,
        }, (a, b) => compareNodes(a.id, b.id));
        break;
      case "partition_added":
        s.partitions.push({ name: e.partition!, replicas: e.replicas! });
        break;
      case "assignment_changed": {
        const p = s.partitions.find((x) => x.name === e.partition);
        if (p) p.replicas = e.replicas!;
        break;
      }
      case "message_sent": {
        const { seq: _seq, cause: _cause, time, kind: _kind, node, peer, message, at, ...body } = e;
        s.messages.push({
          id: message!, from: node!, to: peer!, sentAt: time, deliverAt: at!, held: false,
          ...(body as { what: string; parts: [] }),
        });
        break;
      }
      case "message_delivered": case "message_lost": case "message_held": case "message_released":
        this.applyMessage(e);
        break;
      case "broker_started": case "broker_stopped": case "broker_frozen": case "broker_thawed":
      case "fetches_held": case "fetches_released": case "control_held": case "control_released":
      case "zookeeper_connected": case "zookeeper_disconnected": case "zookeeper_session_lost":
      case "broker_registered": case "controller_elected": case "controller_resigned":
        this.applyBroker(e);
        break;
      case "link_cut": case "link_healed": case "link_held": case "link_released": case "link_slowed": case "drop_armed":
        this.applyLink(e);
        break;
      case "disk_slowed": {
        const b = this.broker(e.node);
        if (b) b.diskSlow = e.at!;
        break;
      }
      case "session_opened":
        insert(s.sessions, { id: e.session!, node: e.peer!, timeout: e.at!, heard: e.time }, (a, b) => a.id - b.id);
        break;
      case "session_closed": case "session_expired":
        remove(s.sessions, (x) => x.id === e.session);
        break;
      case "znode_created":
        insert(s.znodes, { path: e.path!, data: e.text!, version: e.version!, owner: e.session! },
          (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
        break;
      case "znode_changed": {
        const z = s.znodes.find((x) => x.path === e.path);
        if (z) [z.data, z.version] = [e.text!, e.version!];
        break;
      }
      case "znode_deleted":
        remove(s.znodes, (x) => x.path === e.path);
        break;
      case "became_leader": case "became_follower": case "replica_stopped": case "log_created": case "log_recovered":
      case "log_appended": case "log_truncated": case "log_tail_lost": case "log_trimmed": case "log_restarted": case "log_flushed": case "log_wiped": case "log_deleted":
      case "high_watermark_advanced": case "high_watermark_lowered": case "high_watermark_checkpointed":
      case "follower_progressed": case "isr_shrunk": case "isr_expanded":
        this.applyReplica(e);
        break;
      case "checkpoint_wiped":
        for (const r of s.replicas) if (r.broker === e.node) [r.checkpoint, r.hw] = [-1, 0];
        break;
      case "fetch_parked":
        insert(s.parked, { message: e.message!, broker: e.node!, from: e.peer!, produce: false }, (a, b) => a.message - b.message);
        break;
      case "produce_parked":
        insert(s.parked, { message: e.message!, broker: e.node!, from: e.peer!, produce: true, partition: e.partition!, offset: e.offset! },
          (a, b) => a.message - b.message);
        break;
      case "fetch_unparked": case "produce_unparked":
        remove(s.parked, (p) => p.message === e.message);
        break;
      case "producer_added": case "producer_changed": case "stream_started": case "stream_stopped":
      case "record_queued": case "record_sent": case "record_acked": case "record_assumed": case "record_failed":
      case "produce_refused": case "producer_id_assigned": case "producer_id_dropped":
        this.applyProducer(e);
        break;
      case "reader_added": case "record_read": case "reader_moved": case "position_committed":
        this.applyReader(e);
        break;
      case "leader_learned": {
        const client = s.producers.find((p) => p.node === e.node) ?? s.readers.find((r) => r.node === e.node);
        if (client) client.leader = e.leader!;
        break;
      }
    }
  }

  private messageIndex(id: number): number {
    const l = this.state.messages;
    let [lo, hi] = [0, l.length];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (l[mid]!.id < id) lo = mid + 1;
      else hi = mid;
    }
    return l[lo]?.id === id ? lo : -1;
  }

  private applyMessage(e: Event): void {
    const i = this.messageIndex(e.message!);
    if (i < 0) return;
    const m = this.state.messages[i]!;
    switch (e.kind) {
      case "message_held":
        m.held = true;
        return;
      case "message_released":
        m.held = false;
        m.deliverAt = e.at!;
        return;
      case "message_delivered":
        // What keeps a ZooKeeper session alive says so by carrying its number.
        if (m.session) for (const x of this.state.sessions) if (x.id === m.session) x.heard = e.time;
        break;
      case "message_lost":
        if (e.how === "drop") this.dropUsed(m);
    }
    this.state.messages.splice(i, 1);
  }

  private applyBroker(e: Event): void {
    const b = this.broker(e.node);
    if (!b) return;
    switch (e.kind) {
      case "broker_started": case "broker_thawed":
        b.state = "up";
        break;
      case "broker_frozen":
        b.state = "frozen";
        break;
      case "broker_stopped":
        b.state = e.how === "power" ? "off" : "down";
        b.session = 0;
        b.connected = b.registered = b.controller = false;
        for (const r of this.state.replicas) {
          if (r.broker !== e.node) continue;
          stop(r);
          r.hw = Math.max(r.checkpoint, 0);
        }
        remove(this.state.parked, (p) => p.broker === e.node);
        break;
      case "fetches_held": case "fetches_released":
        b.fetchesHeld = e.kind === "fetches_held";
        break;
      case "control_held": case "control_released":
        b.controlHeld = e.kind === "control_held";
        break;
      case "zookeeper_connected":
        b.session = e.session!;
        b.connected = true;
        break;
      case "zookeeper_disconnected":
        b.connected = false;
        break;
      case "zookeeper_session_lost":
        b.session = 0;
        b.connected = b.registered = false;
        break;
      case "broker_registered":
        b.registered = true;
        break;
      case "controller_elected": case "controller_resigned":
        b.controller = e.kind === "controller_elected";
    }
  }

  private applyLink(e: Event): void {
    const s = this.state;
    let l = s.links.find((x) => x.from === e.node && x.to === e.peer);
    if (!l) {
      l = { from: e.node!, to: e.peer!, cut: false, held: false, slow: 0, drops: [] };
      insert(s.links, l, (a, b) => this.compareAll(a.from, b.from) || this.compareAll(a.to, b.to));
    }
    switch (e.kind) {
      case "link_cut": case "link_healed":
        l.cut = e.kind === "link_cut";
        break;
      case "link_held": case "link_released":
        l.held = e.kind === "link_held";
        break;
      case "link_slowed":
        l.slow = e.at!;
        break;
      case "drop_armed":
        insert(l.drops, e.text as DropClass, (a, b) => DROP_CLASSES.indexOf(a) - DROP_CLASSES.indexOf(b));
    }
    this.forgetLink(l);
  }

  /** dropUsed takes an armed drop off the link on which it lost a message. */
  private dropUsed(m: MessageState): void {
    const l = this.state.links.find((x) => x.from === m.from && x.to === m.to);
    if (!l) return;
    l.drops.splice(l.drops.indexOf(dropClass(m.what)), 1);
    this.forgetLink(l);
  }

  /** forgetLink drops the state of a link that is as it should be again. */
  private forgetLink(l: LinkState): void {
    if (!l.cut && !l.held && l.slow === 0 && l.drops.length === 0) remove(this.state.links, (x) => x === l);
  }

  private applyReplica(e: Event): void {
    const s = this.state;
    if (e.kind === "log_created") {
      insert(s.replicas, {
        broker: e.node!, partition: e.partition!, role: "none", leader: -1, epoch: -1, logStart: 0, values: [], epochs: [],
        hw: 0, flushed: 0, checkpoint: -1, isr: [], followers: [],
      }, (a, b) => compareNodes(a.broker, b.broker) || this.partitionIndex(a.partition) - this.partitionIndex(b.partition));
      return;
    }
    const r = this.replica(e.node, e.partition);
    if (!r) return;
    switch (e.kind) {
      case "became_leader": {
        const followers = r.role === "leader" ? r.followers.filter((f) => e.replicas!.includes(Number(f.broker))) : [];
        stop(r);
        r.role = "leader";
        r.leader = Number(e.node);
        r.epoch = e.epoch!;
        r.isr = e.isr!;
        r.followers = followers;
        break;
      }
      case "became_follower":
        stop(r);
        r.role = "follower";
        r.leader = e.leader!;
        r.epoch = e.epoch!;
        break;
      case "replica_stopped":
        stop(r);
        break;
      case "log_recovered": case "high_watermark_advanced": case "high_watermark_lowered":
        r.hw = e.hw!;
        break;
      case "log_appended":
        r.values.push(...e.values!);
        appendEpochs(r.epochs, e.epochs!);
        break;
      case "log_truncated": case "log_tail_lost": {
        // A new list, not a shorter one: who has looked at the log sees that it is another.
        const keep = Math.max(e.offset! - r.logStart, 0);
        r.values = r.values.slice(0, keep);
        r.epochs = cutEpochs(r.epochs, keep);
        r.flushed = Math.min(r.flushed, e.offset!);
        r.logStart = Math.min(r.logStart, e.offset!);
        break;
      }
      case "log_trimmed": {
        const gone = e.offset! - r.logStart;
        r.values = r.values.slice(gone);
        r.epochs = dropEpochs(r.epochs, gone);
        r.logStart = e.offset!;
        r.flushed = Math.max(r.flushed, e.offset!);
        break;
      }
      case "log_restarted":
        r.values = [];
        r.epochs = [];
        r.logStart = r.flushed = e.offset!;
        break;
      case "log_flushed":
        r.flushed = e.offset!;
        break;
      case "log_wiped": case "log_deleted":
        remove(s.replicas, (x) => x === r);
        break;
      case "high_watermark_checkpointed":
        r.checkpoint = e.hw!;
        break;
      case "follower_progressed": {
        const f = r.followers.find((x) => x.broker === e.peer);
        if (f) f.leo = e.offset!;
        else insert(r.followers, { broker: e.peer!, leo: e.offset! }, (a, b) => compareNodes(a.broker, b.broker));
        break;
      }
      case "isr_shrunk": case "isr_expanded":
        r.isr = e.isr!;
    }
  }

  private partitionIndex(name: string): number {
    return this.state.partitions.findIndex((p) => p.name === name);
  }

  private applyProducer(e: Event): void {
    const s = this.state;
    const p = s.producers.find((x) => x.node === e.node);
    switch (e.kind) {
      case "producer_added":
        this.clients.push(e.node!);
        s.producers.push({
          node: e.node!, partition: e.partition!, acks: e.acks!, every: 0, leader: -1, idempotent: e.how === "idempotent", producerId: -1,
        });
        return;
      case "producer_changed":
        if (p) p.acks = e.acks!;
        return;
      case "stream_started":
        if (p) p.every = e.at!;
        return;
      case "stream_stopped":
        if (p) p.every = 0;
        return;
      case "producer_id_assigned":
        if (p) p.producerId = e.producerId!;
        return;
      case "producer_id_dropped":
        if (p) p.producerId = -1;
        return;
      case "record_queued":
        for (const value of e.values!) {
          const r: RecordState = {
            value, producer: e.node!, partition: e.partition!, fate: "queued", error: "NONE", attempts: 0,
            queuedAt: e.time, sentAt: 0, toldAt: 0, offset: -1, producerId: -1, sequence: -1,
          };
          s.records.push(r);
          this.ledger.set(value, r);
        }
        return;
    }
    e.values!.forEach((value, i) => {
      const r = this.ledger.get(value);
      if (!r) return;
      switch (e.kind) {
        case "record_sent":
          r.fate = "sent";
          if (e.producerId! >= 0) [r.producerId, r.sequence] = [e.producerId!, e.sequence! + i];
          if (++r.attempts === 1) r.sentAt = e.time;
          break;
        case "record_acked":
          r.fate = "acked";
          r.toldAt = e.time;
          r.offset = e.offset! + i;
          break;
        case "record_assumed":
          r.fate = "assumed";
          r.toldAt = e.time;
          break;
        case "produce_refused":
          r.fate = "queued";
          r.error = e.error!;
          break;
        case "record_failed":
          r.fate = "failed";
          r.toldAt = e.time;
          r.error = e.error!;
      }
    });
  }

  private applyReader(e: Event): void {
    const s = this.state;
    if (e.kind === "reader_added") {
      this.clients.push(e.node!);
      s.readers.push({ node: e.node!, partition: e.partition!, manual: e.how === "manual", position: e.offset!, committed: -1, leader: -1, read: [] });
      return;
    }
    const r: ReaderState | undefined = s.readers.find((x) => x.node === e.node);
    if (!r) return;
    if (e.kind === "record_read") {
      e.values!.forEach((value, i) => r.read.push({ offset: e.offset! + i, value }));
      r.position = e.offset! + e.values!.length;
    } else if (e.kind === "position_committed") {
      r.committed = e.offset!;
    } else {
      r.position = e.offset!;
    }
  }

  /** compareAll orders every kind of node as the core numbers them: ZooKeeper, brokers, clients in order of appearance. */
  private compareAll(a: string, b: string): number {
    return this.rank(a) - this.rank(b);
  }

  private rank(name: string): number {
    if (isZooKeeper(name)) return 0;
    if (isBroker(name)) return Number(name);
    return 1000 + this.clients.indexOf(name);
  }
}

/** The classes of messages that can be dropped, in the core's order. */
const DROP_CLASSES: DropClass[] = ["answer", "fetch", "control"];

/** dropClass is the class of a message that was dropped. */
function dropClass(what: string): DropClass {
  if (what === "fetch") return "fetch";
  return what === "leader_and_isr" || what === "update_metadata" || what === "stop_replica" ? "control" : "answer";
}

/** stop forgets what a process knew of a replica. */
function stop(r: ReplicaState): void {
  r.role = "none";
  r.leader = -1;
  r.epoch = -1;
  r.isr = [];
  r.followers = [];
}

function compareNodes(a: string, b: string): number {
  return Number(a) - Number(b);
}

function insert<T>(l: T[], v: T, compare: (a: T, b: T) => number): void {
  let i = l.length;
  while (i > 0 && compare(l[i - 1]!, v) > 0) i--;
  l.splice(i, 0, v);
}

function remove<T>(l: T[], which: (x: T) => boolean): void {
  let n = 0;
  for (const x of l) if (!which(x)) l[n++] = x;
  l.length = n;
}

/** appendEpochs appends runs to runs, joining equal neighbours. */
export function appendEpochs(runs: EpochRuns, more: EpochRuns): void {
  for (const [epoch, count] of more) {
    const last = runs[runs.length - 1];
    if (last && last[0] === epoch) last[1] += count;
    else runs.push([epoch, count]);
  }
}

/** cutEpochs keeps the first so many records of runs. */
export function cutEpochs(runs: EpochRuns, keep: number): EpochRuns {
  const out: EpochRuns = [];
  for (const [epoch, count] of runs) {
    if (keep <= 0) break;
    out.push([epoch, Math.min(count, keep)]);
    keep -= count;
  }
  return out;
}

/** dropEpochs drops the first so many records of runs. */
export function dropEpochs(runs: EpochRuns, gone: number): EpochRuns {
  const out: EpochRuns = [];
  for (const [epoch, count] of runs) {
    if (count > gone) out.push([epoch, count - Math.max(gone, 0)]);
    gone -= count;
  }
  return out;
}

/** epochAt is the leader epoch of the record at a place in a log. */
export function epochAt(runs: EpochRuns, place: number): number {
  for (const [epoch, count] of runs) {
    if (place < count) return epoch;
    place -= count;
  }
  return -1;
}
