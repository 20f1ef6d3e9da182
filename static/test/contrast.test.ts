import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./fixtures";

// The colours are pairs, light-dark(a, b), in tokens.css.
const tokens = new Map<string, [string, string]>();
for (const m of source("src/css/tokens.css").matchAll(/--([\w-]+):\s*light-dark\((#\w{6}),\s*(#\w{6})\)/g)) tokens.set(m[1]!, [m[2]!, m[3]!]);

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p) as [number, number];
  return (x + 0.05) / (y + 0.05);
}

/** mix is a share of one colour in another, as color-mix(in srgb) does. */
function mix(a: string, b: string, share: number): string {
  return "#" + [1, 3, 5].map((i) => Math.round(parseInt(a.slice(i, i + 2), 16) * share + parseInt(b.slice(i, i + 2), 16) * (1 - share)).toString(16).padStart(2, "0")).join("");
}

const hues = ["p1", "p2", "p3", "p4"];
const TEXT: [string, string][] = [
  ["text", "panel"], ["text", "stage"], ["text", "card"], ["text", "card2"], ["ink", "card"], ["ink", "pressed"], ["ink", "card2"], ["muted", "panel"], ["muted", "card"],
  ["muted", "card2"], ["muted", "stage"], ["accent", "panel"], ["accent", "accent-soft"], ["ink", "accent-soft"], ["on-accent", "accent"], ["hw-t", "hw"],
  ["ok", "ok-s"], ["ok", "card"], ["bad", "card"], ["bad", "bad-s"], ["bad", "card2"], ["on-bad", "bad"], ["warn", "card"], ["warn", "warn-s"],
  ["ctl", "ctl-s"], ["ctl", "card"], ["on-ctl", "ctl"], ["cold", "cold-s"], ["crown-t", "card"],
  ...hues.flatMap((h): [string, string][] => [[`${h}-t`, "card"], [`${h}-t`, "card2"], [`${h}-t`, `${h}-s`], [`${h}-on`, h], [`${h}-t`, "panel"]]),
];
const SHAPES: [string, string][] = [
  ["edge", "card"], ["accent", "panel"], ["ok", "card"], ["bad", "card"], ["ctl", "card"], ["hw", "card"], ["muted", "card2"],
  ...hues.map((h): [string, string] => [`${h}-l`, "card"]),
];

for (const [i, theme] of (["light", "dark"] as const).entries()) {
  const of = (name: string) => {
    assert.ok(tokens.has(name), `no token ${name}`);
    return tokens.get(name)![i]!;
  };
  test(`${theme}: text is 4.5:1 on what it stands on`, () => {
    for (const [a, b] of TEXT) assert.ok(contrast(of(a), of(b)) >= 4.5, `${a} on ${b}: ${contrast(of(a), of(b)).toFixed(2)}`);
    // A leader's plate is the partition's soft colour, half in the card's.
    for (const h of hues) {
      const plate = mix(of(`${h}-s`), of("card"), 0.55);
      for (const a of [`${h}-t`, "muted"]) assert.ok(contrast(of(a), plate) >= 4.5, `${a} on the plate of a leader in ${h}: ${contrast(of(a), plate).toFixed(2)}`);
    }
  });
  test(`${theme}: shapes are 3:1 on the card`, () => {
    for (const [a, b] of SHAPES) assert.ok(contrast(of(a), of(b)) >= 3, `${a} on ${b}: ${contrast(of(a), of(b)).toFixed(2)}`);
  });
}
