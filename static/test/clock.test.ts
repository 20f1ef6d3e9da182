import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, LAG_MS, SPEEDS, formatSpeed, formatTime, nearestSpeed } from "../src/clock";
import { retryDelay } from "../src/transport";

/** live plays so many wall ms: a server that tells its time every 50 ms, a page at 60 frames a second. */
function live(clock: Clock, ms: number, speed: number, from = 0, jitter = 0): number[] {
  const shown: number[] = [];
  let heard = 0;
  for (let now = from; now <= from + ms; now += 1) {
    if (now - heard >= 50 + (jitter ? (now * 7919) % jitter : 0)) {
      clock.hear((now) * 1000 * speed, now);
      heard = now;
    }
    if (now % 17 === 0) shown.push(clock.advance(now));
  }
  return shown;
}

for (const speed of [1 / 1000, 1 / 12, 1, 20]) {
  test(`at ${formatSpeed(speed)} the shown moment runs evenly, a little behind, and never back`, () => {
    const clock = new Clock();
    clock.jump(0, 0);
    clock.set(true, speed);
    const shown = live(clock, 4000, speed, 0, 40);
    for (let i = 1; i < shown.length; i++) assert.ok(shown[i]! >= shown[i - 1]!, "never back");
    const rate = 1000 * speed * 17;
    for (let i = 120; i < shown.length; i++) {
      const d = shown[i]! - shown[i - 1]!;
      assert.ok(d > rate * 0.6 && d < rate * 1.4, `frame ${i} moves ${d} µs instead of ${rate}`);
    }
    const behind = (3995 * 1000 * speed - shown[shown.length - 1]!) / (1000 * speed);
    assert.ok(behind > LAG_MS * 0.5 && behind < LAG_MS * 1.6, `behind by ${behind} ms`);
    assert.ok(shown[shown.length - 1]! <= clock.horizon, "nothing is shown before it is known");
  });
}

test("paused, it comes to rest exactly at what the server told", () => {
  const clock = new Clock();
  clock.jump(0, 0);
  clock.set(true, 1 / 12);
  live(clock, 1000, 1 / 12);
  clock.hear(90_000, 1000);
  clock.set(false, 1 / 12);
  for (let now = 1000; now < 2200; now += 17) clock.advance(now);
  assert.equal(clock.shown, 90_000);
  assert.equal(clock.behind, false);
});

test("a step of seconds is shown within about one", () => {
  const clock = new Clock();
  clock.jump(0, 0);
  clock.set(false, 1 / 12);
  clock.hear(6_000_000, 10);
  clock.wake(10);
  let now = 10;
  while (clock.behind && now < 5000) clock.advance((now += 17));
  assert.ok(now > 700 && now < 1100, `took ${now} ms`);
});

test("a page that slept shows the present, not what it missed", () => {
  const clock = new Clock();
  clock.jump(0, 0);
  clock.set(true, 1);
  live(clock, 1000, 1);
  clock.hear(60_000_000, 60_000);
  clock.wake(60_000);
  clock.advance(60_017);
  assert.ok(clock.shown > 59_000_000);
});

test("speeds and times as people write them", () => {
  assert.deepEqual([0.001, 1 / 12, 1, 20].map(formatSpeed), ["1/1000×", "1/12×", "1×", "20×"]);
  assert.equal(SPEEDS[nearestSpeed(1 / 12)], 1 / 12);
  assert.deepEqual([SPEEDS[0], SPEEDS[SPEEDS.length - 1]], [0.001, 20]);
  for (let i = 1; i < SPEEDS.length; i++) assert.ok(SPEEDS[i]! > SPEEDS[i - 1]!);
  assert.deepEqual([0, 12_480_000, 65_250_000, -1_500_000].map(formatTime), ["0.000 s", "12.480 s", "1:05.250", "−1.500 s"]);
});

test("reconnecting waits longer each time, up to a limit, and not all pages at once", () => {
  assert.deepEqual([1, 2, 3, 10].map((n) => retryDelay(n, 1)), [250, 500, 1000, 8000]);
  assert.equal(retryDelay(10, 0), 4000);
});
