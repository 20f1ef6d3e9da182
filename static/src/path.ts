// Pure. Curves that messages travel on, as samples at equal distances.

export interface Point { x: number; y: number }
export interface Place extends Point { angle: number }

const STEP = 5; // px between samples

/** Path is a curve in the coordinates of the stage. */
export class Path {
  readonly xs: Float32Array;
  readonly ys: Float32Array;
  readonly length: number;

  constructor(points: Point[]) {
    let length = 0;
    for (let i = 1; i < points.length; i++) length += Math.hypot(points[i]!.x - points[i - 1]!.x, points[i]!.y - points[i - 1]!.y);
    this.length = length;
    const n = Math.max(2, Math.ceil(length / STEP) + 1);
    this.xs = new Float32Array(n);
    this.ys = new Float32Array(n);
    let [k, done] = [1, 0];
    for (let i = 0; i < n; i++) {
      const want = (length * i) / (n - 1);
      let seg = Math.hypot(points[k]!.x - points[k - 1]!.x, points[k]!.y - points[k - 1]!.y);
      while (k < points.length - 1 && done + seg < want) {
        done += seg;
        k++;
        seg = Math.hypot(points[k]!.x - points[k - 1]!.x, points[k]!.y - points[k - 1]!.y);
      }
      const f = seg > 0 ? Math.min((want - done) / seg, 1) : 0;
      this.xs[i] = points[k - 1]!.x + f * (points[k]!.x - points[k - 1]!.x);
      this.ys[i] = points[k - 1]!.y + f * (points[k]!.y - points[k - 1]!.y);
    }
  }

  /** at is the place after a fraction of the way. */
  at(u: number): Place {
    const n = this.xs.length - 1;
    const f = Math.min(Math.max(u, 0), 1) * n;
    const i = Math.min(Math.floor(f), n - 1);
    const r = f - i;
    const [x0, y0, x1, y1] = [this.xs[i]!, this.ys[i]!, this.xs[i + 1]!, this.ys[i + 1]!];
    return { x: x0 + r * (x1 - x0), y: y0 + r * (y1 - y0), angle: Math.atan2(y1 - y0, x1 - x0) };
  }
}

/** arc is a quadratic curve from a to b whose middle is lifted by rise. */
export function arc(a: Point, b: Point, rise: number): Path {
  const c = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 - 2 * rise };
  const points: Point[] = [];
  for (let i = 0; i <= 32; i++) {
    const u = i / 32;
    const f = 1 - u;
    points.push({ x: f * f * a.x + 2 * f * u * c.x + u * u * b.x, y: f * f * a.y + 2 * f * u * c.y + u * u * b.y });
  }
  return new Path(points);
}

/** bent follows straight lines with rounded corners. */
export function bent(corners: Point[], radius = 12): Path {
  const points: Point[] = [corners[0]!];
  for (let i = 1; i < corners.length - 1; i++) {
    const [p, c, n] = [corners[i - 1]!, corners[i]!, corners[i + 1]!];
    const a = Math.hypot(c.x - p.x, c.y - p.y);
    const b = Math.hypot(n.x - c.x, n.y - c.y);
    const r = Math.min(radius, a / 2, b / 2);
    if (r < 1) {
      points.push(c);
      continue;
    }
    const s = { x: c.x + ((p.x - c.x) * r) / a, y: c.y + ((p.y - c.y) * r) / a };
    const e = { x: c.x + ((n.x - c.x) * r) / b, y: c.y + ((n.y - c.y) * r) / b };
    for (let k = 0; k <= 6; k++) {
      const u = k / 6;
      const f = 1 - u;
      points.push({ x: f * f * s.x + 2 * f * u * c.x + u * u * e.x, y: f * f * s.y + 2 * f * u * c.y + u * u * e.y });
    }
  }
  points.push(corners[corners.length - 1]!);
  return new Path(points);
}
