// Pure. Wall time to virtual time. The page shows a moment slightly behind the
// server's present, so that every event of the moment is already here and messages
// move evenly however the frames arrive.

import type { Micros } from "./state";

/** How far behind the server the page shows things, in wall milliseconds. */
export const LAG_MS = 120;
/** Without word from the server for so long, its clock is no longer extrapolated. */
const SILENCE_MS = 300;
/** A jump of the server's clock while paused (a step) is played in at most this long. */
const GLIDE_MS = 900;

export class Clock {
  /** The moment that is shown. */
  shown: Micros = 0;
  /** The latest moment the server has told of. */
  horizon: Micros = 0;
  playing = false;
  /** Virtual over wall time. */
  speed = 1 / 12;

  private heardAt = 0; // wall ms of the horizon
  private lastFrame = 0;
  private glide = 0; // µs per wall ms while paused

  /** jump shows a moment at once: after a snapshot. */
  jump(time: Micros, now: number): void {
    this.shown = this.horizon = time;
    this.heardAt = now;
    this.glide = 0;
  }

  /** hear takes the server's present time. */
  hear(time: Micros, now: number): void {
    if (time < this.horizon) return;
    this.horizon = time;
    this.heardAt = now;
    if (!this.playing) this.startGlide();
  }

  /** set takes over what the server says about playing and speed. */
  set(playing: boolean, speed: number): void {
    this.playing = playing;
    this.speed = speed;
    if (!playing) this.startGlide();
  }

  /** behind reports whether there is something left to show. */
  get behind(): boolean {
    return this.shown < this.horizon;
  }

  /** advance moves the shown moment on and returns it. */
  advance(now: number): Micros {
    // A page that slept (paused, hidden) does not make up for it in one leap.
    const elapsed = Math.min(Math.max(now - this.lastFrame, 0), 100);
    this.lastFrame = now;
    const rate = 1000 * this.speed;
    if (this.playing) {
      const serverNow = this.horizon + Math.min(now - this.heardAt, SILENCE_MS) * rate;
      const target = serverNow - LAG_MS * rate;
      const next = this.shown + elapsed * rate;
      const error = target - next;
      // Small errors are worked off gently, large ones (a tab that was hidden) at once.
      this.shown = Math.abs(error) > 1000 * rate ? target : next + error * Math.min(1, elapsed / 400);
      this.shown = Math.max(this.shown, next - elapsed * rate);
    } else if (this.behind) {
      this.shown += elapsed * Math.max(rate, this.glide);
    }
    this.shown = Math.min(this.shown, this.horizon);
    return this.shown;
  }

  /** wake tells the clock that frames come again, so that the pause between does not count. */
  wake(now: number): void {
    this.lastFrame = now;
  }

  private startGlide(): void {
    this.glide = (this.horizon - this.shown) / GLIDE_MS;
  }
}

/** The speeds that the page offers, from one thousandth to twenty times real time. */
export const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 1 / 24, 1 / 12, 1 / 6, 1 / 3, 1, 2, 5, 10, 20] as const;

/** nearestSpeed is the place in SPEEDS of the speed nearest to the given one. */
export function nearestSpeed(speed: number): number {
  let best = 0;
  SPEEDS.forEach((s, i) => {
    if (Math.abs(Math.log(s / speed)) < Math.abs(Math.log(SPEEDS[best]! / speed))) best = i;
  });
  return best;
}

/** formatSpeed writes a speed as people say it: 1/12×, 5×. */
export function formatSpeed(speed: number): string {
  if (speed >= 1) return `${Math.round(speed * 10) / 10}×`;
  return `1/${Math.round(1 / speed)}×`;
}

/** formatTime writes a moment: 12.480 s; from a minute on 1:05.250. */
export function formatTime(t: Micros): string {
  const sign = t < 0 ? "−" : "";
  const ms = Math.floor(Math.abs(t) / 1000);
  const minutes = Math.floor(ms / 60000);
  const seconds = ((ms % 60000) / 1000).toFixed(3);
  return minutes > 0 ? `${sign}${minutes}:${seconds.padStart(6, "0")}` : `${sign}${seconds} s`;
}
