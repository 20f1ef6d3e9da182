// Pure. Where everything is: from the size of the stage and the shape of the
// cluster to rectangles, and from two nodes to the path between them. Columns are
// brokers and rows are partitions, so that the replicas of a partition sit at one
// height and logs compare by eye. A narrow stage is one column of cards instead.

import { type Path, type Point, arc, bent } from "./path";
import { isBroker, isZooKeeper } from "./state";

export interface Rect { x: number; y: number; w: number; h: number }

/** What the layout depends on. */
export interface Shape {
  width: number; // px of the stage
  height: number;
  unit: number; // px per design px: the reader's text size over 16
  brokers: string[];
  partitions: { name: string; replicas: number[] }[];
  producers: string[];
  readers: string[];
}

/** Sizes inside a plate: the box of one replica. All in px of the stage. */
export interface PlateSizes {
  w: number;
  h: number;
  pad: number;
  title: number; // height of the lines above the flag
  flagY: number;
  cellY: number;
  cellH: number;
  flushY: number;
  leoY: number;
  beadY: number;
  chipY: number;
  twoLines: boolean; // the title takes two lines
}

/** Which offsets of a log are drawn, and where. */
export interface LogWindow {
  start: number; // first offset drawn as a cell
  count: number; // cells that fit
  x0: number; // of the first cell, in the plate
  cell: number; // width of a cell
  step: number; // from one cell to the next
  chip: number; // width of the chip for what is before; 0 without one
  brief: 0 | 1 | 2; // the chip has room for both its offsets, the last, or none
}

const PAD = 16;
const GUTTER = 16;
const HEAD = 58;
const COLUMN_BELOW = 640;

export class Layout {
  readonly column: boolean;
  readonly width: number;
  readonly height: number;
  readonly unit: number;
  readonly compact: boolean;
  readonly tight: boolean;
  private readonly stacked: boolean = false;
  readonly plate: PlateSizes;
  readonly head: number;
  readonly producers: Rect;
  readonly zookeeper: Rect;
  readonly consumers: Rect;
  readonly brokers = new Map<string, Rect>();
  /** Plates by broker|partition, in the coordinates of the stage. */
  readonly plates = new Map<string, Rect>();
  /** Where a broker has no replica of a partition. */
  readonly holes = new Map<string, Rect>();
  private readonly netY: number; // middle of the lane between the upper cards and the brokers
  private readonly laneH: number;
  private readonly gutter: number = GUTTER;
  private readonly paths = new Map<string, Path>();
  private readonly clients: Map<string, { consumer: boolean; index: number; of: number }>;

  constructor(readonly shape: Shape) {
    const u = (this.unit = shape.unit);
    const n = Math.max(shape.brokers.length, 1);
    this.column = shape.width < COLUMN_BELOW * Math.min(u, 1.3);
    this.clients = new Map();
    shape.producers.forEach((name, index) => this.clients.set(name, { consumer: false, index, of: shape.producers.length }));
    shape.readers.forEach((name, index) => this.clients.set(name, { consumer: true, index, of: shape.readers.length }));
    this.head = HEAD * u;
    const zkRows = Math.ceil(shape.partitions.length / (shape.partitions.length > 4 ? 2 : 1));
    const clientRows = Math.min(Math.max(shape.producers.length, shape.readers.length, 2), 4);
    const topH = Math.max(44 + clientRows * 44, 58 + zkRows * 23, 138) * u;

    if (this.column) {
      const pad = 10 * u;
      const gutter = 26 * u; // messages travel along the right edge
      const w = (this.width = shape.width) - pad - gutter;
      this.compact = w < 268 * u;
      this.tight = false;
      this.plate = plateSizes(w - 12 * u, u, this.compact);
      this.laneH = 12 * u;
      this.netY = 0;
      let y = pad;
      this.producers = { x: pad, y, w, h: (44 + clientRows * 44) * u };
      y += this.producers.h + pad;
      this.zookeeper = { x: pad, y, w, h: (122 + 12 + 32 + zkRows * 24) * u };
      y += this.zookeeper.h + pad;
      this.consumers = { x: pad, y, w, h: (44 + clientRows * 44) * u };
      y += this.consumers.h + pad;
      for (const b of shape.brokers) {
        const top = y;
        y += this.head;
        for (const p of shape.partitions) {
          if (!p.replicas.includes(Number(b))) continue;
          this.plates.set(`${b}|${p.name}`, { x: pad + 6 * u, y, w: w - 12 * u, h: this.plate.h });
          y += this.plate.h + 8 * u;
        }
        this.brokers.set(b, { x: pad, y: top, w, h: y - top });
        y += pad;
      }
      this.height = y;
      return;
    }

    const net = 46 * u;
    const minW = 138 * u;
    const gutter = (this.gutter = (n > 5 ? 12 : GUTTER) * u);
    this.width = Math.max(shape.width, 2 * PAD * u + n * minW + (n - 1) * gutter);
    const colW = (this.width - 2 * PAD * u - (n - 1) * gutter) / n;
    this.compact = colW < 240 * u;
    this.tight = colW < 176 * u;
    this.plate = plateSizes(colW - 14 * u, u, this.compact);
    let top = 12 * u;
    // The upper cards: clients at the sides, ZooKeeper between. With few or many
    // brokers their widths do not follow the columns; where it is too narrow for all
    // three, ZooKeeper is above the clients and reached through the gap between them.
    const sideW = n >= 4 && n <= 5 ? Math.max(colW, 200 * u) : Math.max(this.width * 0.22, 200 * u);
    const zx = PAD * u + sideW + gutter;
    this.stacked = this.width - 2 * zx < 430 * u;
    if (this.stacked) {
      this.zookeeper = { x: PAD * u, y: top, w: this.width - 2 * PAD * u, h: topH };
      top += topH + 12 * u;
    } else {
      this.zookeeper = { x: zx, y: top, w: this.width - 2 * zx, h: topH };
    }
    const clientW = this.stacked ? (this.width - 2 * PAD * u - 44 * u) / 2 : sideW;
    this.producers = { x: PAD * u, y: top, w: clientW, h: topH };
    this.consumers = { x: this.width - PAD * u - clientW, y: top, w: clientW, h: topH };
    const by = top + topH + net;
    const rows = Math.max(shape.partitions.length, 1);
    const minRow = this.plate.h + 44 * u;
    const free = shape.height - by - 12 * u - this.head - 8 * u;
    const rowH = Math.min(Math.max(free / rows, minRow), this.plate.h + 110 * u);
    this.laneH = rowH - this.plate.h;
    this.height = Math.max(by + this.head + rows * rowH + 8 * u + 12 * u, shape.height);
    this.netY = top + topH + net / 2;
    shape.brokers.forEach((b, i) => {
      const x = PAD * u + i * (colW + gutter);
      this.brokers.set(b, { x, y: by, w: colW, h: this.head + rows * rowH + 8 * u });
      shape.partitions.forEach((p, r) => {
        const rect = { x: x + 7 * u, y: by + this.head + r * rowH + this.laneH, w: colW - 14 * u, h: this.plate.h };
        (p.replicas.includes(Number(b)) ? this.plates : this.holes).set(`${b}|${p.name}`, rect);
      });
    });
  }

  /** window says which part of a partition's logs is drawn. It is the same for all replicas, so that they compare. */
  window(maxLeo: number): LogWindow {
    const u = this.unit;
    const inner = this.plate.w - 2 * this.plate.pad;
    const digits = String(Math.max(maxLeo, 0)).length;
    const cell = Math.round((digits <= 2 ? (this.compact ? 17 : 18) : 8.4 * digits + 2) * u);
    const step = cell + 2 * u;
    const fit = Math.floor((inner + 2 * u) / step);
    if (maxLeo <= fit - 1) return { start: 0, count: fit, x0: this.plate.pad, cell, step, chip: 0, brief: 0 };
    // The chip says "0–407"; in a narrow plate only "…407", in a very narrow one "…".
    const cells = (chip: number) => Math.floor((inner - chip - 2 * u) / step);
    const widths = [Math.max((digits * 2 + 1) * 7 + 10, 30) * u, ((digits + 1) * 7 + 8) * u, 14 * u] as const;
    const brief = cells(widths[0]) >= 3 ? 0 : cells(widths[1]) >= 2 ? 1 : 2;
    const chip = widths[brief];
    const count = Math.max(cells(chip), 2);
    // The window moves on by several cells at once and leaves room at the end.
    const jump = Math.max(Math.floor(count / 4), 1);
    const start = Math.max(Math.ceil((maxLeo - (count - 1)) / jump), 1) * jump;
    return { start, count, x0: this.plate.pad + chip + 2 * u, cell, step, chip, brief };
  }

  /**
   * path is the way of a message from one node to another. Partition is the row it is
   * about, empty for one that is about none; answers run beside requests.
   */
  path(from: string, to: string, partition: string, answer: boolean): Path {
    const key = `${from}|${to}|${partition}|${answer ? 1 : 0}`;
    let p = this.paths.get(key);
    if (!p) this.paths.set(key, (p = this.makePath(from, to, partition, answer)));
    return p;
  }

  private makePath(from: string, to: string, partition: string, answer: boolean): Path {
    if (this.column) return this.columnPath(from, to, partition, answer);
    const u = this.unit;
    const a = this.plates.get(`${from}|${partition}`);
    const b = this.plates.get(`${to}|${partition}`);
    if (a && b && from !== to) {
      const [ax, bx] = [a.x + a.w / 2, b.x + b.w / 2];
      const dir = bx > ax ? 1 : -1;
      const columns = Math.round(Math.abs(bx - ax) / (a.w + 14 * u + this.gutter));
      const rise = Math.min((answer ? 10 : 22) * u + columns * 8 * u, this.laneH - 12 * u);
      // Requests end and answers begin at the inner side of the leader's plate.
      const reach = 26 * u;
      return arc({ x: ax + dir * reach, y: a.y }, { x: bx - dir * reach, y: b.y }, rise);
    }
    // A client and a replica: by the net lane and down a gutter, so that no record is covered.
    const client = this.clients.has(from) ? from : this.clients.has(to) ? to : "";
    const broker = client === from ? to : from;
    const plate = this.plates.get(`${broker}|${partition}`);
    if (client && plate) {
      // Producers come down left of a column and consumers right of it, but at the
      // edges of the stage there is no room for what a message carries.
      const place = this.shape.brokers.indexOf(broker);
      const side = place === 0 ? 1 : place === this.shape.brokers.length - 1 ? -1 : this.clientSide(client);
      const s = this.clientPoint(client, answer);
      const card = this.brokers.get(broker)!;
      const shift = (this.clientSide(client) * 2 + (answer ? 1.5 : -1.5)) * u;
      const gx = (side < 0 ? card.x - this.gutter / 2 : card.x + card.w + this.gutter / 2) + shift;
      const y = this.netY + this.clientSide(client) * 8 * u + (answer ? 6 : 0) * u;
      const lane = plate.y - (answer ? 10 : 18) * u;
      const end = side < 0 ? plate.x + 34 * u : plate.x + plate.w - 34 * u;
      const points = [s, { x: s.x, y }, { x: gx, y }, { x: gx, y: lane }, { x: end, y: lane }, { x: end, y: plate.y }];
      return bent(client === from ? points : points.reverse());
    }
    if (isBroker(from) && isBroker(to)) {
      const [ra, rb] = [this.brokers.get(from), this.brokers.get(to)];
      if (ra && rb) return this.overhead(ra, rb, answer, from === to);
    }
    const [p, q] = [this.port(from, to, answer), this.port(to, from, answer)];
    const y = this.netY + (answer ? 4 : -4) * u;
    // Nearly above one another: a straight line reads better than two corners.
    if (Math.abs(p.x - q.x) < 3 * u) return bent([p, q]);
    return bent([p, { x: p.x, y }, { x: q.x, y }, q]);
  }

  /** overhead joins two brokers over their heads; a broker that talks to itself gets a loop. */
  private overhead(a: Rect, b: Rect, answer: boolean, same: boolean): Path {
    const u = this.unit;
    const y = this.netY + (answer ? 12 : 2) * u;
    const x = (r: Rect, side: number) => r.x + r.w * (0.5 + side * (answer ? 0.06 : 0.1));
    if (same) return bent([{ x: x(a, -1), y: a.y }, { x: x(a, -1), y }, { x: x(a, 1), y }, { x: x(a, 1), y: a.y }], 10 * u);
    const dir = b.x > a.x ? 1 : -1;
    return bent([{ x: x(a, dir), y: a.y }, { x: x(a, dir), y }, { x: x(b, -dir), y }, { x: x(b, -dir), y: b.y }]);
  }

  /** port is where a node is left or entered on the net lane. */
  private port(node: string, other: string, answer: boolean): Point {
    const u = this.unit;
    const broker = this.brokers.get(node);
    if (broker) return { x: broker.x + broker.w / 2 + (answer ? 7 : -7) * u, y: broker.y };
    if (isZooKeeper(node)) {
      const z = this.zookeeper;
      const o = this.brokers.get(other);
      if (this.stacked) return { x: this.width / 2 + (answer ? 7 : -7) * u, y: z.y + z.h };
      const want = o ? o.x + o.w / 2 : z.x + z.w / 2;
      return { x: Math.min(Math.max(want, z.x + 24 * u), z.x + z.w - 24 * u) + (answer ? 7 : -7) * u, y: z.y + z.h };
    }
    return this.clientPoint(node, answer);
  }

  private clientSide(name: string): -1 | 1 {
    return this.clients.get(name)?.consumer ? 1 : -1;
  }

  private clientPoint(name: string, answer: boolean): Point {
    const u = this.unit;
    const c = this.clients.get(name) ?? { consumer: false, index: 0, of: 1 };
    const r = c.consumer ? this.consumers : this.producers;
    const x = r.x + (r.w * (c.index + 1)) / (c.of + 1);
    return { x: x + (answer ? 6 : -6) * u, y: r.y + r.h };
  }

  private columnPath(from: string, to: string, partition: string, answer: boolean): Path {
    const u = this.unit;
    const edge = (node: string, side: number): Point => {
      const p = this.plates.get(`${node}|${partition}`);
      const off = side * 6 * u;
      if (p) return { x: p.x + p.w, y: p.y + 40 * u + off };
      const r = this.brokers.get(node) ?? (isZooKeeper(node) ? this.zookeeper : this.clients.get(node)?.consumer ? this.consumers : this.producers);
      return { x: r.x + r.w, y: r.y + 22 * u + off };
    };
    const [a, b] = [edge(from, answer ? 1 : -1), edge(to, answer ? 1 : -1)];
    const x = this.width - (answer ? 9 : 17) * u;
    return bent([a, { x, y: a.y }, { x, y: b.y }, b], 8 * u);
  }
}

function plateSizes(w: number, u: number, compact: boolean): PlateSizes {
  const title = (compact ? 48 : 28) * u;
  const flagY = title + 2 * u;
  const cellY = flagY + 19 * u;
  const cellH = 32 * u;
  const flushY = cellY + cellH + 4 * u;
  const leoY = flushY + 7 * u;
  const beadY = leoY + 14 * u;
  const chipY = beadY + 17 * u;
  return { w, h: chipY + 24 * u, pad: 6 * u, title, flagY, cellY, cellH, flushY, leoY, beadY, chipY, twoLines: compact };
}
