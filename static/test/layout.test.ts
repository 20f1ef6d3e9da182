import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, type Rect, type Shape } from "../src/layout";

const partitions = [{ name: "topic1-0", replicas: [1, 2, 3] }, { name: "topic1-1", replicas: [4, 2, 3] }];
const shape = (width: number, height: number, brokers = 4, unit = 1): Shape => ({
  width, height, unit, brokers: Array.from({ length: brokers }, (_, i) => String(i + 1)), partitions,
  producers: ["P", "Q"], readers: ["R", "S"],
});
const SHAPES: [string, Shape][] = [
  ["a desktop", shape(1136, 680)], ["a large screen", shape(1600, 900)], ["a low one", shape(1136, 420)], ["a tablet", shape(768, 0)],
  ["a phone", shape(360, 0)], ["a phone with large text", shape(360, 0, 4, 1.5)], ["seven brokers", shape(1136, 680, 7)],
  ["two brokers", shape(1136, 680, 2)], ["large text", shape(1136, 680, 4, 2)],
];
const overlap = (a: Rect, b: Rect) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

for (const [name, s] of SHAPES) {
  test(`${name}: cards do not overlap and lie within the stage`, () => {
    const l = new Layout(s);
    const cards = [l.producers, l.zookeeper, l.consumers, ...l.brokers.values()];
    cards.forEach((a, i) => {
      assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.w <= l.width + 0.01 && a.y + a.h <= l.height + 0.01, JSON.stringify(a));
      for (const b of cards.slice(i + 1)) assert.ok(!overlap(a, b), `${JSON.stringify(a)} ${JSON.stringify(b)}`);
    });
    for (const [key, p] of l.plates) {
      const card = l.brokers.get(key.split("|")[0]!)!;
      assert.ok(p.x >= card.x && p.x + p.w <= card.x + card.w && p.y >= card.y + l.head - 0.01 && p.y + p.h <= card.y + card.h, key);
    }
    assert.equal(l.plates.size, s.brokers.length >= 4 ? 6 : partitions.flatMap((p) => p.replicas).filter((b) => b <= s.brokers.length).length);
  });

  test(`${name}: replicas of a partition sit at one height`, () => {
    const l = new Layout(s);
    if (l.column) return;
    for (const p of partitions) {
      const ys = new Set([...l.plates].filter(([k]) => k.endsWith(`|${p.name}`)).map(([, r]) => r.y));
      assert.equal(ys.size, 1);
    }
  });

  test(`${name}: paths begin and end at their nodes, stay within the stage and cover no record`, () => {
    const l = new Layout(s);
    const nodes = [...s.brokers, "zookeeper", "P", "R"];
    for (const a of nodes) {
      for (const b of nodes) {
        for (const p of ["", "topic1-0", "topic1-1"]) {
          const path = l.path(a, b, p, a > b);
          for (let i = 0; i < path.xs.length; i++) {
            const [x, y] = [path.xs[i]!, path.ys[i]!];
            assert.ok(Number.isFinite(x) && Number.isFinite(y), `${a} ${b} ${p}`);
            assert.ok(x >= 0 && x <= l.width && y >= 0 && y <= l.height, `${a} to ${b} about ${p} leaves the stage at ${x},${y}`);
            if (l.column) continue;
            for (const [key, r] of l.plates) {
              const cells: Rect = { x: r.x + 1, y: r.y + l.plate.cellY, w: r.w - 2, h: l.plate.cellH };
              assert.ok(!(x > cells.x && x < cells.x + cells.w && y > cells.y && y < cells.y + cells.h), `${a} to ${b} about ${p} crosses the records of ${key}`);
            }
          }
        }
      }
    }
  });

  test(`${name}: the window shows the end of the log, and its cells fit`, () => {
    const l = new Layout(s);
    for (let leo = 0; leo < 3000; leo += leo < 40 ? 1 : 37) {
      const w = l.window(leo);
      assert.ok(w.count >= 2, `${w.count} cells`);
      assert.ok(w.start + w.count > leo, `the end of ${leo} is shown by ${JSON.stringify(w)}`);
      assert.ok(leo === 0 || w.start < leo, `a record is shown of ${leo}`);
      assert.ok(w.x0 + w.count * w.step - (w.step - w.cell) <= l.plate.w - l.plate.pad / 2, `${leo}: ${JSON.stringify(w)} in ${l.plate.w}`);
      assert.equal(w.chip > 0, w.start > 0);
    }
  });
}
