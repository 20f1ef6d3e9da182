import assert from "node:assert/strict";
import { test } from "node:test";
import { Deriver } from "../src/derive";
import { Model, appendEpochs, cutEpochs, emptySnapshot, epochAt } from "../src/model";
import type { EpochRuns } from "../src/state";
import { runs } from "./fixtures";

for (const run of runs()) {
  test(`${run.name}: the fold of the events is Go's snapshot, at every one of ${run.snapshots.length} points`, () => {
    const model = new Model(emptySnapshot(run.snapshots[0]!.snapshot.kafka));
    const deriver = new Deriver();
    let next = 0;
    for (const { snapshot, lost } of run.snapshots) {
      while (next < run.events.length && run.events[next]!.seq <= snapshot.seq) model.apply(run.events[next++]!);
      // Time also passes without events.
      model.state.time = snapshot.time;
      assert.equal(JSON.stringify(model.state), JSON.stringify(snapshot), `at event ${snapshot.seq}`);
      const facts = deriver.derive(model.state);
      assert.deepEqual([...facts.partitions.values()].flatMap((p) => [...p.lost]).sort(), [...lost].sort(), `lost at event ${snapshot.seq}`);
    }
    assert.ok(next > 100, "there were events");
  });

  test(`${run.name}: a fold that starts at a snapshot comes to the same end`, () => {
    const middle = run.snapshots[run.snapshots.length >> 1]!.snapshot;
    const last = run.snapshots[run.snapshots.length - 1]!.snapshot;
    const model = new Model(structuredClone(middle));
    for (const e of run.events) if (e.seq > middle.seq && e.seq <= last.seq) model.apply(e);
    model.state.time = last.time;
    assert.deepEqual(model.state, last);
  });
}

test("some run loses records, some shows every kind of trouble", () => {
  const all = runs();
  assert.ok(all.find((r) => r.name === "lost")!.snapshots.some((s) => s.lost.length === 4), "four of five are lost: the waiting fetch took the first");
  const seen = new Set(all.flatMap((r) => r.events.map((e) => e.kind)));
  for (const kind of ["log_truncated", "session_expired", "leader_elected", "isr_shrunk", "isr_expanded", "message_held", "message_lost",
    "log_tail_lost", "registration_refused", "controller_elected", "high_watermark_advanced", "link_slowed", "broker_thawed", "log_wiped"]) {
    assert.ok(seen.has(kind), `no ${kind} in any run`);
  }
});

test("runs of epochs", () => {
  const runs: EpochRuns = [];
  appendEpochs(runs, [[0, 2]]);
  appendEpochs(runs, [[0, 1], [2, 3]]);
  assert.deepEqual(runs, [[0, 3], [2, 3]]);
  assert.deepEqual([0, 2, 3, 5, 6].map((i) => epochAt(runs, i)), [0, 0, 2, 2, -1]);
  assert.deepEqual(cutEpochs(runs, 4), [[0, 3], [2, 1]]);
  assert.deepEqual(cutEpochs(runs, 0), []);
});
