// Pure. What follows from a state and is worth showing: whom ZooKeeper names, who
// acts as leader, which records are lost. Nothing here decides anything: it reads
// the state as a person would who has all of it before them.

import { type RecordState, type ReplicaState, type SessionState, type Snapshot, isBroker, leo } from "./state";

/** What a partition's state znode says, and what is true of the partition now. */
export interface PartitionFacts {
  name: string;
  replicas: number[];
  /** From the state znode; leader −1 is "no leader", epoch −1 "no znode yet". */
  leader: number;
  epoch: number;
  isr: number[];
  znodeVersion: number;
  /** The replica that the znode names, if it is up and acts in that epoch. */
  acting: ReplicaState | undefined;
  /** Told success to a producer, and missing in the acting leader's log. */
  lost: ReadonlySet<string>;
  /** Changes whenever lost does. */
  lostVersion: number;
  /** More than one leader epoch occurs in the logs. */
  manyEpochs: boolean;
  maxLeo: number;
}

export interface Facts {
  /** From the controller znode; −1 while there is none. */
  controller: number;
  controllerEpoch: number;
  /** Registrations: broker id and the session that owns the znode. */
  registered: { id: number; session: number }[];
  partitions: Map<string, PartitionFacts>;
}

/** What a broker is about to do, while it is up but not yet part of the cluster. */
export type Boot = "" | "connecting" | "registering" | "refused";

/** Deriver keeps what makes deriving cheap between one state and the next. */
export class Deriver {
  private readonly losses = new Map<string, Losses>();

  derive(s: Snapshot): Facts {
    const facts: Facts = { controller: -1, controllerEpoch: -1, registered: [], partitions: new Map() };
    const states = new Map<string, { data: string; version: number }>();
    for (const z of s.znodes) {
      if (z.path === "/controller") facts.controller = Number(parse(z.data)["brokerid"] ?? -1);
      else if (z.path === "/controller_epoch") facts.controllerEpoch = Number(z.data);
      else if (z.path.startsWith("/brokers/ids/")) facts.registered.push({ id: Number(z.path.slice(13)), session: z.owner });
      else {
        const m = /^\/brokers\/topics\/(.+)\/partitions\/(\d+)\/state$/.exec(z.path);
        if (m) states.set(`${m[1]}-${m[2]}`, z);
      }
    }
    const underWay = new Set<string>();
    for (const m of s.messages) if (m.what === "produce") for (const p of m.parts) for (const v of p.values ?? []) underWay.add(v);
    for (const p of s.partitions) {
      const z = states.get(p.name);
      const x = z ? parse(z.data) : {};
      const leader = Number(x["leader"] ?? -1);
      const epoch = Number(x["leader_epoch"] ?? -1);
      const logs = s.replicas.filter((r) => r.partition === p.name);
      const named = logs.find((r) => r.broker === String(leader));
      const up = s.brokers.find((b) => b.id === String(leader))?.state === "up";
      const acting = named && up && named.role === "leader" && named.epoch === epoch ? named : undefined;
      let losses = this.losses.get(p.name);
      if (!losses) this.losses.set(p.name, (losses = new Losses()));
      const epochs = new Set<number>();
      for (const r of logs) for (const [e] of r.epochs) epochs.add(e);
      facts.partitions.set(p.name, {
        name: p.name, replicas: p.replicas, leader, epoch, isr: (x["isr"] as number[] | undefined) ?? [],
        znodeVersion: z?.version ?? -1, acting, lost: losses.update(p.name, acting, s.records, underWay), lostVersion: losses.version,
        manyEpochs: epochs.size > 1, maxLeo: logs.reduce((n, r) => Math.max(n, leo(r)), 0),
      });
    }
    return facts;
  }
}

/**
 * Losses knows which records of a partition are lost. It looks at each record of the
 * ledger once, and again only when the acting leader's log is another one.
 */
class Losses {
  private log: string[] | undefined;
  private present = new Set<string>();
  private counted = 0; // records of the log that are in present
  private from = 0; // all records of the ledger before this have had their verdict
  private lost = new Set<string>();
  version = 0;

  update(partition: string, acting: ReplicaState | undefined, ledger: RecordState[], underWay: Set<string>): ReadonlySet<string> {
    if (!acting) {
      this.log = undefined;
      this.version++;
      return (this.lost = new Set());
    }
    if (acting.values !== this.log || ledger.length < this.from) {
      this.log = acting.values;
      this.present = new Set();
      this.lost = new Set();
      this.version++;
      this.counted = this.from = 0;
    }
    for (; this.counted < acting.values.length; this.counted++) {
      this.present.add(acting.values[this.counted]!);
      if (this.lost.delete(acting.values[this.counted]!)) this.version++;
    }
    let settled = true;
    for (let i = this.from; i < ledger.length; i++) {
      const r = ledger[i]!;
      const told = r.fate === "acked" || r.fate === "assumed";
      // With acks=0 success is assumed when the request leaves: until it has had time to arrive, nothing is lost.
      const open = !told ? r.fate !== "failed" : !this.present.has(r.value) && underWay.has(r.value);
      if (told && !open && r.partition === partition && !this.present.has(r.value) && !this.lost.has(r.value)) {
        this.lost.add(r.value);
        this.version++;
      }
      if (open && r.partition === partition) settled = false;
      if (settled) this.from = i + 1;
    }
    return this.lost;
  }
}

/** boot says how far a broker that is up has got in joining the cluster; "" when it has. */
export function boot(s: Snapshot, facts: Facts, id: string): Boot {
  const b = s.brokers.find((x) => x.id === id);
  if (!b || b.state !== "up" || b.registered) return "";
  if (!b.connected) return "connecting";
  const owner = facts.registered.find((r) => r.id === Number(id))?.session;
  return owner !== undefined && owner !== b.session ? "refused" : "registering";
}

/** remaining is how long a session will live if nothing more is heard from it. */
export function remaining(x: SessionState, time: number): number {
  return Math.max(x.heard + x.timeout - time, 0);
}

/** silent reports whether a session has been quiet for longer than a healthy one is. */
export function silent(x: SessionState, time: number): boolean {
  // A client pings after a third of the timeout; the ping is under way a little.
  return time - x.heard > x.timeout / 2;
}

/** diverges reports whether a log has another record at an offset than the acting leader's. */
export function diverges(r: ReplicaState, p: PartitionFacts, offset: number): boolean {
  const a = p.acting;
  if (!a || a === r || offset >= leo(a) || offset < a.logStart) return false;
  return a.values[offset - a.logStart] !== r.values[offset - r.logStart];
}

/** isReplaced reports whether a replica leads although ZooKeeper names another broker. */
export function isReplaced(r: ReplicaState, p: PartitionFacts): boolean {
  return r.role === "leader" && p.epoch >= 0 && String(p.leader) !== r.broker;
}

/** linkBetween sums up a pair of nodes: cut, held and drop are 1 from a to b, 2 from b to a, 3 both ways. */
export function linkBetween(s: Snapshot, a: string, b: string): { cut: 0 | 1 | 2 | 3; held: 0 | 1 | 2 | 3; slow: number; drop: 0 | 1 | 2 | 3 } {
  let [cut, held, slow, drop] = [0, 0, 0, 0];
  for (const l of s.links) {
    const way = l.from === a && l.to === b ? 1 : l.from === b && l.to === a ? 2 : 0;
    if (!way) continue;
    if (l.cut) cut |= way;
    if (l.held) held |= way;
    slow = Math.max(slow, l.slow);
    if (l.drops.length > 0) drop |= way;
  }
  return { cut: cut as 0, held: held as 0, slow, drop: drop as 0 };
}

/** faultyPairs lists the pairs of nodes whose link is not as it should be. */
export function faultyPairs(s: Snapshot): [string, string][] {
  const seen = new Map<string, [string, string]>();
  for (const l of s.links) {
    const pair: [string, string] = isBroker(l.from) && (!isBroker(l.to) || Number(l.from) < Number(l.to)) ? [l.from, l.to] : [l.to, l.from];
    seen.set(pair.join("|"), pair);
  }
  return [...seen.values()];
}

function parse(data: string): Record<string, unknown> {
  try {
    const x: unknown = JSON.parse(data);
    return typeof x === "object" && x !== null ? (x as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
