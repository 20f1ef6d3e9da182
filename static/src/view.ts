// What every view of the stage is patched from.

import type { Facts } from "./derive";
import type { Text } from "./i18n";
import type { Layout } from "./layout";
import type { Micros, Snapshot } from "./state";

/** Scene is one moment, ready to be shown. */
export interface Scene {
  state: Snapshot;
  facts: Facts;
  layout: Layout;
  t: Text;
  /** The virtual moment, and the wall clock in ms. */
  time: Micros;
  now: number;
}

/** What the reader can do on the stage. */
export interface Deeds {
  statement(text: string): void;
  look(broker: string): void; // the panel's faults are about it
  choose(broker: string): void; // the same, and the panel is where the reader goes
}

/** hueOf is the class that gives a partition its colours. */
export function hueOf(partition: string, scene: { state: Snapshot }): string {
  const i = scene.state.partitions.findIndex((p) => p.name === partition);
  return `h${(Math.max(i, 0) % 4) + 1}`;
}
