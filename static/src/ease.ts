// Pure. How motion starts and ends.

/** travel is the pace of a message on its way: it leaves and lands softly, at the exact times. */
export function travel(u: number): number {
  // Between a straight line and a smoothstep: cubic-bezier(.45,.05,.35,1) is too slow at the end to read the landing.
  const s = u * u * (3 - 2 * u);
  return 0.45 * u + 0.55 * s;
}

/** out is quick at first and slow at the end. */
export function out(u: number): number {
  const f = 1 - clamp(u);
  return 1 - f * f * f;
}

/** into is slow at first and quick at the end. */
export function into(u: number): number {
  const c = clamp(u);
  return c * c;
}

export function clamp(u: number): number {
  return u < 0 ? 0 : u > 1 ? 1 : u;
}

/**
 * progress is how far an effect has got: by virtual time since its event, so that
 * slow motion slows it too, but never longer than its cap in wall time, so that a
 * paused page comes to rest. Durations are given as they look at the speed of 1/12.
 */
export function progress(since: { time: number; wall: number }, time: number, now: number, ms: number): number {
  const virtual = (time - since.time) / ((ms * 1000) / 12);
  const wall = (now - since.wall) / (ms * 1.5);
  return clamp(Math.max(virtual, wall));
}
