// The runs that Go wrote (fixtures_test.go), and files of the package.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Event, Snapshot } from "../src/state";

const dir = process.env["TIDEMARK_FIXTURES"]!;

export interface Run { name: string; events: Event[]; snapshots: { snapshot: Snapshot; lost: string[] }[] }

function lines<T>(path: string): T[] {
  return readFileSync(path, "utf8").trimEnd().split("\n").map((l) => JSON.parse(l) as T);
}

let read: Run[] | undefined;

/** runs lists every run. */
export function runs(): Run[] {
  return (read ??= readdirSync(dir).filter((f) => f.endsWith(".events.jsonl")).sort().map((f) => {
    const name = f.replace(".events.jsonl", "");
    return { name, events: lines<Event>(join(dir, f)), snapshots: lines<Run["snapshots"][number]>(join(dir, `${name}.snapshots.jsonl`)) };
  }));
}

/** kinds lists every kind of event that Go has. */
export function kinds(): { name: string; quiet: boolean }[] {
  return JSON.parse(readFileSync(join(dir, "kinds.json"), "utf8")) as { name: string; quiet: boolean }[];
}

/** source is the text of a file of package static. */
export function source(path: string): string {
  return readFileSync(join(process.env["TIDEMARK_STATIC"]!, path), "utf8");
}
