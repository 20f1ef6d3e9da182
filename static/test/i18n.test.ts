import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isStory, kinds as told } from "../src/caption";
import en from "../src/i18n/en.json";
import zh from "../src/i18n/zh.json";
import { fill, textIn } from "../src/i18n";
import { kinds, source } from "./fixtures";

const EN: Record<string, string> = en;
const ZH: Record<string, string> = zh;

test("both catalogues have the same keys and the same placeholders", () => {
  assert.deepEqual(Object.keys(ZH), Object.keys(EN));
  const holes = (s: string) => [...new Set(s.match(/\{\w+\}/g) ?? [])].sort();
  for (const key of Object.keys(EN)) assert.deepEqual(holes(ZH[key]!), holes(EN[key]!), key);
});

test("what is Chinese is Chinese, but for the words that stay Latin", () => {
  const kept = new RegExp("\\b(" + [
    "broker", "leader", "follower", "ISR", "HW", "LEO", "acks", "all", "epoch", "znode", "ZooKeeper", "Kafka", "LeaderAndIsr", "StopReplica", "UpdateMetadata",
    "ControlledShutdown", "OffsetsForLeaderEpoch", "ListOffsets", "InitProducerId", "JavaScript", "e", "ms",
  ].join("|") + ")\\b", "gi");
  for (const [key, text] of Object.entries(ZH)) {
    const rest = text.replace(/\{\w+\}/g, "").replace(kept, "");
    assert.doesNotMatch(rest, /[A-Za-z]{2,}/, `${key}: ${text}`);
    // A comma or full stop between Chinese characters is a full-width one.
    assert.doesNotMatch(text, /[\u4e00-\u9fff][,;:!?]|[\u4e00-\u9fff]\.(?!\d)/, `${key}: ${text}`);
    assert.doesNotMatch(text, /偏移量|首领|水印/, `${key} uses a word that the glossary has another for: ${text}`);
  }
});

test("every kind of event has sentences, and the same ones are the story as in Go", () => {
  const all = kinds();
  assert.deepEqual([...told()].sort(), all.map((k) => k.name).sort());
  for (const k of all) {
    const variants = Object.keys(EN).filter((key) => key === `event.${k.name}` || key.startsWith(`event.${k.name}.`));
    assert.ok(variants.length > 0, `no text for ${k.name}`);
    assert.equal(isStory({ seq: 1, cause: 0, time: 0, kind: k.name }), !k.quiet, k.name);
  }
});

test("every key that the code names has a text, and every text is named by code", () => {
  const root = process.env["TIDEMARK_STATIC"]!;
  const files = [...readdirSync(join(root, "src")).filter((f) => f.endsWith(".ts")).map((f) => `src/${f}`),
    ...readdirSync(join(root, "../views")).filter((f) => f.endsWith(".templ")).map((f) => `../views/${f}`)];
  const code = files.map(source).join("\n");
  const literals = new Set([...code.matchAll(/["'`]([a-z]+(?:\.[a-z_]+)+)["'`]/g)].map((m) => m[1]!).filter((k) => !/\.(js|css|svg)$/.test(k)));
  const prefixes = [...code.matchAll(/[`"]([a-z]+\.(?:[a-z_]+\.)?)(?:\$\{|" ?\+)/g)].map((m) => m[1]!);
  const unknown = [...literals].filter((k) => /^(app|skip|stage|panel|bottom|events|kafka|conn|theme|help|intro|send|break|try|legend|transport|caption|banner|gone|broker|process|doing|controller|fault|link|held|chip|role|isr|plate|cell|wait|producer|fate|reader|zk|event|what|tag|name|offset|values|list)\./.test(k) && !(k in EN));
  assert.deepEqual(unknown, []);
  const unused = Object.keys(EN).filter((k) => !literals.has(k) && !code.includes(`"${k}"`) && !prefixes.some((p) => k.startsWith(p)) && !k.endsWith(".hint") && !k.startsWith("event."));
  assert.deepEqual(unused, []);
});

test("placeholders are filled, and a missing text is seen", () => {
  assert.equal(fill("{a} and {b}", { a: 1, b: "x" }), "1 and x");
  assert.equal(fill("{a} and {c}", { a: 1 }), "1 and {c}");
  assert.equal(textIn("en")("no.such"), "[no.such]");
});
