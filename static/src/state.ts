// The shapes of what the server sends: events, and the state that they add up to.
// They are the JSON of cluster/trace, field by field and in its order. Times are
// virtual microseconds; −1 stands for "unknown" or "none".

export type Micros = number;

export type ProcessState = "up" | "down" | "off" | "frozen";
export type Role = "none" | "leader" | "follower";
export type Fate = "queued" | "sent" | "acked" | "assumed" | "failed";

export interface PartitionState { name: string; replicas: number[] }

export interface BrokerState {
  id: string;
  state: ProcessState;
  session: number;
  connected: boolean;
  registered: boolean;
  controller: boolean;
  fetchesHeld: boolean;
  controlHeld: boolean;
  diskSlow: Micros;
}

/** Runs of equal leader epochs: [epoch, count]. */
export type EpochRuns = [number, number][];

export interface FollowerState { broker: string; leo: number }

export interface ReplicaState {
  broker: string;
  partition: string;
  role: Role;
  leader: number;
  epoch: number;
  logStart: number;
  values: string[];
  epochs: EpochRuns;
  hw: number;
  flushed: number;
  checkpoint: number;
  isr: number[];
  followers: FollowerState[];
}

export interface ZnodeState { path: string; data: string; version: number; owner: number }
export interface SessionState { id: number; node: string; timeout: Micros; heard: Micros }

/** What can be seen of a message's part about one partition. */
export interface Part {
  partition: string;
  error?: string;
  offset?: number;
  hw?: number;
  epoch?: number;
  leader?: number;
  isr?: number[];
  values?: string[];
  epochs?: EpochRuns;
  producerId?: number;
  sequence?: number;
}

/** What can be seen of a message. */
export interface Body {
  what: string;
  error?: string;
  acks?: number;
  controllerEpoch?: number;
  text?: string;
  session?: number;
  parts: Part[];
}

export interface MessageState extends Body {
  id: number;
  from: string;
  to: string;
  sentAt: Micros;
  deliverAt: Micros;
  held: boolean;
}

export interface ProducerState {
  node: string;
  partition: string;
  acks: number;
  every: Micros;
  leader: number;
  idempotent: boolean;
  producerId: number;
}

export interface ReadRecord { offset: number; value: string }

export interface ReaderState {
  node: string;
  partition: string;
  manual: boolean;
  position: number;
  committed: number;
  leader: number;
  read: ReadRecord[];
}

export interface RecordState {
  value: string;
  producer: string;
  partition: string;
  fate: Fate;
  error: string;
  attempts: number;
  queuedAt: Micros;
  sentAt: Micros;
  toldAt: Micros;
  offset: number;
  producerId: number;
  sequence: number;
}

/** What can be dropped: the next answer, fetch or control request. */
export type DropClass = "answer" | "fetch" | "control";

export interface LinkState { from: string; to: string; cut: boolean; held: boolean; slow: Micros; drops: DropClass[] }

export interface ParkedState {
  message: number;
  broker: string;
  from: string;
  produce: boolean;
  partition?: string;
  offset?: number;
}

/** The visible state of a cluster between two steps. */
export interface Snapshot {
  seq: number;
  time: Micros;
  kafka: string;
  partitions: PartitionState[];
  brokers: BrokerState[];
  replicas: ReplicaState[];
  znodes: ZnodeState[];
  sessions: SessionState[];
  messages: MessageState[];
  producers: ProducerState[];
  readers: ReaderState[];
  records: RecordState[];
  links: LinkState[];
  parked: ParkedState[];
}

/** One thing that happened. Its kind says which fields it has (cluster/trace/kind.go). */
export interface Event {
  seq: number;
  cause: number;
  time: Micros;
  kind: string;
  node?: string;
  peer?: string;
  partition?: string;
  offset?: number;
  hw?: number;
  epoch?: number;
  controllerEpoch?: number;
  version?: number;
  leader?: number;
  isr?: number[];
  replicas?: number[];
  message?: number;
  at?: Micros;
  session?: number;
  path?: string;
  text?: string;
  values?: string[];
  epochs?: EpochRuns;
  error?: string;
  how?: string;
  acks?: number;
  producerId?: number;
  sequence?: number;
  what?: string;
  parts?: Part[];
}

/** leo is a replica's log end offset: the offset that its next record will get. */
export function leo(r: ReplicaState): number {
  return r.logStart + r.values.length;
}

/** isBroker tells a broker's name from those of clients and of ZooKeeper. */
export function isBroker(name: string): boolean {
  return /^\d+$/.test(name);
}

/** isZooKeeper recognises the coordination service. */
export function isZooKeeper(name: string): boolean {
  return name === "zookeeper" || name === "zk";
}
