import assert from "node:assert/strict";
import { test } from "node:test";
import { type Context, brokers, caption, durationText, valuesText } from "../src/caption";
import { type Lang, textIn } from "../src/i18n";
import { Model, emptySnapshot } from "../src/model";
import { type Event, leo } from "../src/state";
import { type Run, runs } from "./fixtures";

/** tell folds a run and calls back with every event and what a sentence is made from. */
function tell(run: Run, each: (e: Event, c: Context) => void): void {
  const model = new Model(emptySnapshot(run.snapshots[0]!.snapshot.kafka));
  for (const e of run.events) {
    const r = model.replica(e.node, e.partition);
    const m = model.message(e.message);
    const c: Context = { state: model.state, message: m && { ...m }, hwBefore: r?.hw, leoBefore: r && leo(r), isrBefore: r?.isr };
    model.apply(e);
    each(e, c);
  }
}

for (const lang of ["en", "zh"] as Lang[]) {
  test(`every event of every run is told completely (${lang})`, () => {
    const t = textIn(lang);
    for (const run of runs()) {
      tell(run, (e, c) => {
        const s = caption(e, c, t);
        assert.doesNotMatch(s, /\[[a-z]+\.[\w.]+\]|\{\w+\}|undefined|NaN|null/, `${run.name} ${JSON.stringify(e)}: ${s}`);
        assert.ok(s.length > 4, s);
        assert.doesNotMatch(s, /[\u4e00-\u9fff，。：；（）] [\u4e00-\u9fff，。：；（）]|  /, "a stray space");
      });
    }
  });
}

/** first is the first sentence of a kind in a run, as it is told in a language. */
function first(name: string, lang: Lang, which: (e: Event) => boolean): string {
  let s = "";
  tell(runs().find((r) => r.name === name)!, (e, c) => {
    if (!s && which(e)) s = caption(e, c, textIn(lang));
  });
  return s;
}

test("sentences say who, what and why", () => {
  const lost = (kind: string, more: (e: Event) => boolean = () => true) => (e: Event) => e.kind === kind && more(e);
  assert.equal(first("lost", "en", lost("broker_stopped")), "Broker 1 crashes. Its files and its page cache stay; what was on its way to it is lost.");
  assert.equal(first("lost", "zh", lost("broker_stopped")), "Broker 1 崩溃。文件和页缓存还在，正发往它的消息全部丢失。");
  assert.equal(first("lost", "en", lost("session_expired")),
    "ZooKeeper has heard nothing from broker 1 for too long and ends its session; its ephemeral znodes go with it.");
  assert.match(first("lost", "en", lost("leader_elected", (e) => e.how === "clean")),
    /^The controller elects broker 2 leader of topic1-0: the first live replica in the ISR\. Leader epoch 1, ISR 2, 3\.$/);
  assert.match(first("lost", "en", lost("log_truncated", (e) => e.node === "1")), /^Broker 1 cuts its log of topic1-0 back to its high watermark, \d+, and so drops offset/);
  assert.match(first("lost", "zh", lost("log_truncated", (e) => e.node === "1")), /^Broker 1 把 topic1-0 的日志截断到自己的高水位 \d+，位移 .*消失。$/);
  assert.match(first("idle", "en", (e) => e.kind === "high_watermark_advanced" && e.node === "1"),
    /^HW of topic1-0 moves from \d+ to \d+ on broker 1: every ISR member \(1, 2, 3\) has everything below \d+\. It is committed\.$/);
});

test("lists and durations", () => {
  const t = textIn("en");
  assert.equal(valuesText(["P1"], t), "P1");
  assert.equal(valuesText(["a", "b", "c", "d", "e"], t), "a … e (5 records)");
  assert.equal(brokers([1, 2]), "1, 2");
  assert.deepEqual([400_000, 6_000_000, 1_500_000].map(durationText), ["400 ms", "6 s", "1.5 s"]);
});
