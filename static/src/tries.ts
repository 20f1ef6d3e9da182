// "Try this": short plays of a few statements each. A play waits for what it needs
// to see before it goes on; what happens is up to the cluster.

import { Deriver, type Facts } from "./derive";
import type { Params } from "./i18n";
import type { Snapshot } from "./state";

/** What a play can do. */
export interface Director {
  do(statement: string): Promise<boolean>;
  play(): void;
  until(condition: (s: Snapshot) => boolean): Promise<boolean>;
  state(): Snapshot;
}

/** Cast says who plays which part in the cluster as it is now. */
export interface Cast { producer: string; partition: string; leader: number; followers: number[]; controller: number; replicas: number[] }

export interface Try {
  key: string;
  params(c: Cast): Params;
  possible(c: Cast): boolean;
  run(d: Director, c: Cast): Promise<void>;
}

/** castOf looks for the parts; undefined while there are none to play. */
export function castOf(s: Snapshot, producer?: string, facts: Facts = new Deriver().derive(s)): Cast | undefined {
  const p = s.producers.find((x) => x.node === producer) ?? s.producers[0];
  if (!p) return undefined;
  const f = facts.partitions.get(p.partition);
  if (!f) return undefined;
  const up = (id: number) => s.brokers.find((b) => b.id === String(id))?.state === "up";
  const leader = f.acting ? f.leader : -1;
  return {
    producer: p.node, partition: p.partition, leader, followers: f.replicas.filter((b) => b !== leader && up(b)),
    controller: facts.controller, replicas: f.replicas,
  };
}

const ledBy = (c: Cast) => c.leader > 0;
const sendAndWait = async (d: Director, c: Cast, count: number): Promise<boolean> => {
  const before = d.state().records.filter((r) => r.producer === c.producer).length;
  if (!(await d.do(`send ${c.producer} ${count}`))) return false;
  d.play();
  return d.until((s) => {
    const own = s.records.filter((r) => r.producer === c.producer).slice(before);
    return own.length >= count && own.every((r) => r.toldAt > 0);
  });
};

export const TRIES: Try[] = [
  {
    key: "try.all",
    params: () => ({}),
    possible: ledBy,
    async run(d, c) {
      await d.do(`set ${c.producer} acks all`);
      await d.do(`send ${c.producer} 5`);
      d.play();
    },
  },
  {
    key: "try.stop",
    params: (c) => ({ leader: c.leader }),
    possible: ledBy,
    async run(d, c) {
      await d.do(`set ${c.producer} acks 1`);
      if (await sendAndWait(d, c, 5)) await d.do(`stop broker ${c.leader}`);
    },
  },
  {
    key: "try.lose",
    params: (c) => ({ leader: c.leader }),
    possible: (c) => ledBy(c) && c.followers.length > 0,
    async run(d, c) {
      const followers = c.followers.filter((b) => !d.state().brokers.find((x) => x.id === String(b))?.fetchesHeld);
      if (followers.length > 0) await d.do(`hold fetches of ${followers.join(" ")}`);
      await d.do(`set ${c.producer} acks 1`);
      if (await sendAndWait(d, c, 5)) await d.do(`stop broker ${c.leader}`);
      if (followers.length > 0) await d.do(`release fetches of ${followers.join(" ")}`);
    },
  },
  {
    key: "try.freeze",
    params: (c) => ({ follower: c.followers[c.followers.length - 1] ?? -1 }),
    possible: (c) => ledBy(c) && c.followers.length > 0,
    async run(d, c) {
      if (await d.do(`freeze broker ${c.followers[c.followers.length - 1]}`)) d.play();
    },
  },
  {
    key: "try.cut",
    params: (c) => ({ leader: c.leader }),
    possible: ledBy,
    async run(d, c) {
      if (await d.do(`cut ${c.leader} - zookeeper`)) d.play();
    },
  },
  {
    key: "try.controller",
    params: (c) => ({ controller: c.controller }),
    possible: (c) => c.controller > 0,
    async run(d, c) {
      if (await d.do(`stop broker ${c.controller}`)) d.play();
    },
  },
  {
    key: "try.power",
    params: (c) => ({ replicas: c.replicas.join(", ") }),
    possible: (c) => ledBy(c) && c.followers.length > 0,
    async run(d, c) {
      await d.do(`set ${c.producer} acks all`);
      if (await sendAndWait(d, c, 3)) {
        const up = c.replicas.filter((b) => d.state().brokers.find((x) => x.id === String(b))?.state === "up");
        await d.do(`power off ${up.join(" ")}`);
      }
    },
  },
];
