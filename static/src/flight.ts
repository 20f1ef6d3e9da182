// Messages on their way, on one canvas over the stage. What is drawn is a function
// of the state and the virtual time alone: every message knows when it was sent and
// when it will arrive, so pausing, stepping and slow motion move nothing by
// themselves. Pictures of messages are drawn once and then copied.

import * as ease from "./ease";
import type { Layout } from "./layout";
import type { Path } from "./path";
import { type MessageState, type Snapshot, isBroker, leo } from "./state";

/** What a message looks like. */
interface Look {
  kind: "data" | "ask" | "ack" | "refusal" | "control" | "small" | "dot" | "question";
  hue: number; // 0: none, else of the partition
  words: string; // in or beside it
  tag: string; // attached to it
  strength: number; // 0..1
  partition: string;
  answer: boolean;
  /** What was made for it, and for which generation of sprites and layout. */
  sprite?: Sprite;
  path?: Path;
  made: number;
}

/** A picture on a page, with the point that it is held at. */
interface Sprite { page: HTMLCanvasElement; sx: number; sy: number; w: number; h: number; ax: number; ay: number }
interface Burst { x: number; y: number; time: number; wall: number }

const COLOURS = ["card", "ink", "muted", "ok", "bad", "ctl", "accent", "hw", "hw-t", "on-bad", "on-ctl", "crown",
  ...[1, 2, 3, 4].flatMap((i) => [`p${i}`, `p${i}-l`, `p${i}-on`, `p${i}-t`])] as const;

/** How many messages get a trail, and how many are shown at full strength. */
const TRAILS = 14;
/**
 * Pictures of messages are kept on pages of this side, in px. A page that has just
 * been painted on is copied by the browser before it can be drawn from, so pages are
 * small; with this many full, all pictures are made anew.
 */
const PAGE = 224;
const PAGES = 24;

export class Flight {
  readonly canvas: HTMLCanvasElement;
  reduced = false;
  private readonly context: CanvasRenderingContext2D;
  private readonly sprites = new Map<string, Sprite>();
  private readonly looks = new WeakMap<MessageState, Look>();
  private colours: Record<string, string> = {};
  private ratio = 1;
  private layout: Layout | undefined;
  private bursts: Burst[] = [];
  private crown: { from: string; to: string; time: number; wall: number } | undefined;
  private blank = true;
  private generation = 1;
  private pages = 0;
  private page = document.createElement("canvas");
  private painter = this.page.getContext("2d")!;
  private shelf = { x: 0, y: 0, h: 0 };
  private readonly widths = new Map<string, Map<string, number>>();

  constructor() {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "flight";
    this.canvas.setAttribute("aria-hidden", "true");
    this.context = this.canvas.getContext("2d")!;
  }

  /** resize fits the canvas to the layout and the screen. */
  resize(layout: Layout): void {
    this.layout = layout;
    this.ratio = Math.min(window.devicePixelRatio || 1, 3);
    this.canvas.width = Math.round(layout.width * this.ratio);
    this.canvas.height = Math.round(layout.height * this.ratio);
    this.canvas.style.width = `${layout.width}px`;
    this.canvas.style.height = `${layout.height}px`;
    this.forget();
  }

  /** recolour reads the colours of the theme. */
  recolour(): void {
    const probe = document.createElement("i");
    probe.style.setProperty("forced-color-adjust", "none");
    this.canvas.parentElement!.append(probe);
    for (const name of COLOURS) {
      probe.style.color = `var(--${name})`;
      this.colours[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    this.forget();
  }

  /** lost marks the place where a message ended. */
  lost(m: MessageState, s: Snapshot, time: number, wall: number): void {
    const path = this.pathOf(m, this.lookOf(m, s));
    if (!path || this.bursts.length > 40) return;
    const p = path.at(this.reduced ? 1 : ease.travel(fraction(m, time)));
    this.bursts.push({ x: p.x, y: p.y, time, wall });
  }

  /** crowned lets the crown fly from the old controller to the new one. */
  crowned(from: string, to: string, time: number, wall: number): void {
    if (from !== to) this.crown = { from, to, time, wall };
  }

  /** draw shows the messages of a moment; it reports whether something moves by itself. */
  draw(s: Snapshot, time: number, now: number, grounded = false): boolean {
    const layout = this.layout;
    if (!layout) return false;
    if ((s.messages.length === 0 || grounded) && this.bursts.length === 0 && !this.crown && this.blank) return false;
    const c = this.context;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.clearRect(0, 0, layout.width, layout.height);
    this.blank = true;
    if (grounded) return this.drawBursts(time, now);
    const u = layout.unit;
    let trails = 0;
    // What matters less first, so that it lies below.
    for (let pass = 0; pass < 2; pass++) {
      for (let i = s.messages.length - 1; i >= 0; i--) {
        const m = s.messages[i]!;
        const look = this.lookOf(m, s);
        if ((pass === 1) !== (look.strength > 0.6)) continue;
        const path = this.pathOf(m, look);
        if (!path) continue;
        this.blank = false;
        const f = fraction(m, time);
        const at = this.reduced ? 1 : ease.travel(f);
        if (look.strength > 0.6 && trails < TRAILS) {
          trails++;
          this.trail(path, at, look);
        }
        const p = path.at(at);
        const sprite = (look.sprite ??= this.spriteOf(look));
        c.globalAlpha = look.strength * (this.reduced ? 1 : Math.min(1, f * 12 + 0.25));
        if (look.kind === "ask") {
          const [cos, sin] = [Math.cos(p.angle) * this.ratio, Math.sin(p.angle) * this.ratio];
          c.setTransform(cos, sin, -sin, cos, p.x * this.ratio, p.y * this.ratio);
          this.copy(sprite, -sprite.ax, -sprite.ay);
          c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
          if (look.words && trails <= 8) this.label(look, p.x, p.y - 19 * u);
        } else {
          // What is wide stays inside the stage.
          const x = Math.min(Math.max(p.x - sprite.ax, 0), layout.width - sprite.w);
          this.copy(sprite, x, p.y - sprite.ay);
        }
        if (m.held) this.pause(p.x, p.y);
        c.globalAlpha = 1;
      }
    }
    return this.drawBursts(time, now);
  }

  private pathOf(m: MessageState, look: Look): Path | undefined {
    if (!look.path && this.layout) look.path = this.layout.path(m.from, m.to, look.partition, look.answer);
    return look.path;
  }

  // New colours, a new layout or too many pages: every picture and path is made again.
  private forget(): void {
    this.sprites.clear();
    this.widths.clear();
    this.generation++;
    this.pages = 0;
    this.turn();
  }

  // A fresh page.
  private turn(): void {
    this.pages++;
    this.page = document.createElement("canvas");
    this.page.width = this.page.height = Math.round(PAGE * this.ratio * (this.layout?.unit ?? 1));
    this.painter = this.page.getContext("2d")!;
    this.shelf = { x: 0, y: 0, h: 0 };
  }

  private trail(path: Path, at: number, look: Look): void {
    const c = this.context;
    const u = this.layout!.unit;
    c.strokeStyle = this.lineOf(look);
    c.lineCap = "round";
    c.lineWidth = 1.3 * u;
    c.globalAlpha = 0.3 * look.strength;
    c.setLineDash(look.kind === "ask" || look.kind === "control" ? [0.5 * u, 5 * u] : []);
    c.beginPath();
    const { xs, ys } = path;
    c.moveTo(xs[0]!, ys[0]!);
    for (let i = 1; i < xs.length; i++) c.lineTo(xs[i]!, ys[i]!);
    c.stroke();
    c.setLineDash([]);
    // The bright part behind the message, fading out in four pieces.
    const end = Math.round(at * (xs.length - 1));
    const size = Math.max(Math.round((70 * u) / 5), 4);
    c.lineWidth = 2.2 * u;
    for (let q = 0; q < 4; q++) {
      const [a, b] = [Math.max(end - Math.round((size * (4 - q)) / 4), 0), Math.max(end - Math.round((size * (3 - q)) / 4), 0)];
      if (b <= a) continue;
      c.globalAlpha = (0.14 + 0.2 * q) * look.strength;
      c.beginPath();
      c.moveTo(xs[a]!, ys[a]!);
      for (let i = a + 1; i <= b; i++) c.lineTo(xs[i]!, ys[i]!);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  private label(look: Look, x: number, y: number): void {
    const s = this.labelSprite(look.words, look.hue);
    this.copy(s, x - s.ax, y - s.ay);
  }

  private pause(x: number, y: number): void {
    const c = this.context;
    const u = this.layout!.unit;
    c.globalAlpha = 1;
    c.fillStyle = this.colours["card"]!;
    c.strokeStyle = this.colours["bad"]!;
    c.lineWidth = 1.5 * u;
    c.beginPath();
    c.arc(x + 10 * u, y - 9 * u, 7 * u, 0, 7);
    c.fill();
    c.stroke();
    c.fillStyle = this.colours["bad"]!;
    c.fillRect(x + 7.4 * u, y - 12 * u, 2 * u, 6 * u);
    c.fillRect(x + 10.6 * u, y - 12 * u, 2 * u, 6 * u);
  }

  private drawBursts(time: number, now: number): boolean {
    const c = this.context;
    const u = this.layout!.unit;
    this.bursts = this.bursts.filter((b) => {
      const p = ease.progress(b, time, now, 700);
      this.blank = false;
      c.globalAlpha = 1 - p * p;
      c.strokeStyle = this.colours["bad"]!;
      c.lineCap = "round";
      c.lineWidth = 2.6 * u;
      const r = (5 + 5 * ease.out(p)) * u;
      c.beginPath();
      c.moveTo(b.x - r, b.y - r);
      c.lineTo(b.x + r, b.y + r);
      c.moveTo(b.x + r, b.y - r);
      c.lineTo(b.x - r, b.y + r);
      c.stroke();
      c.globalAlpha = 1;
      return p < 1;
    });
    if (this.crown) {
      const p = ease.progress(this.crown, time, now, 700);
      const [a, b] = [this.layout!.brokers.get(this.crown.from), this.layout!.brokers.get(this.crown.to)];
      if (a && b && p < 1 && !this.reduced) {
        const e = p * p * (3 - 2 * p);
        const x = a.x + 50 * u + (b.x - a.x) * e;
        const y = a.y + 18 * u + (b.y - a.y) * e - Math.sin(Math.PI * p) * 46 * u;
        c.save();
        c.translate(x, y);
        c.scale(1.3 * u, 1.3 * u);
        c.fillStyle = this.colours["crown"]!;
        c.fill(new Path2D("M1 3.5l3.7 3L8 .8l3.3 5.7 3.7-3-1.4 8H2.4z"));
        c.restore();
        this.blank = false;
      } else this.crown = undefined;
    }
    return this.bursts.length > 0 || this.crown !== undefined;
  }

  private lookOf(m: MessageState, s: Snapshot): Look {
    let look = this.looks.get(m);
    if (!look) this.looks.set(m, (look = lookOf(m, s)));
    if (look.made !== this.generation) {
      look.made = this.generation;
      delete look.sprite;
      delete look.path;
    }
    return look;
  }

  private lineOf(look: Look): string {
    if (look.kind === "ack") return this.colours["ok"]!;
    if (look.kind === "refusal") return this.colours["bad"]!;
    if (look.hue) return this.colours[`p${look.hue}-l`]!;
    return this.colours[look.kind === "question" ? "muted" : "ctl"]!;
  }

  private spriteOf(look: Look): Sprite {
    const key = `${look.kind}|${look.hue}|${look.words}|${look.tag}`;
    let s = this.sprites.get(key);
    if (!s) {
      this.sprites.set(key, (s = this.paint(look)));
    }
    return s;
  }

  private labelSprite(words: string, hue: number): Sprite {
    const key = `label|${hue}|${words}`;
    let s = this.sprites.get(key);
    if (s) return s;
    const u = this.layout!.unit;
    const font = `580 ${11.5 * u}px ${FONT}`;
    const w = this.measure(words, font) + 12 * u;
    const h = 18 * u;
    s = this.canvasOf(w + 4 * u, h + 4 * u, (c) => {
      c.translate(2 * u, 2 * u);
      this.box(c, 0, 0, w, h, 5 * u, this.colours["card"]!, this.lineColour(hue), 1.2 * u);
      this.write(c, words, w / 2, h / 2, font, hue ? this.colours[`p${hue}-t`]! : this.colours["ctl"]!);
    });
    this.sprites.set(key, s);
    return s;
  }

  private lineColour(hue: number): string {
    return hue ? this.colours[`p${hue}-l`]! : this.colours["ctl"]!;
  }

  private paint(look: Look): Sprite {
    const u = this.layout!.unit;
    const col = this.colours;
    const fill = look.hue ? col[`p${look.hue}`]! : col["ctl"]!;
    const line = look.hue ? col[`p${look.hue}-l`]! : col["ctl"]!;
    switch (look.kind) {
      case "data": {
        const font = `680 ${11.5 * u}px ${FONT}`;
        const small = `620 ${11 * u}px ${FONT}`;
        const w = Math.max(this.measure(look.words, font) + 12 * u, 20 * u);
        const tw = look.tag ? this.measure(look.tag, small) + 12 * u : 0;
        const h = 21 * u;
        return this.canvasOf(w + tw + 8 * u, h + 8 * u, (c) => {
          c.translate(4 * u, 4 * u);
          if (tw) {
            this.box(c, w - 4 * u, 1.5 * u, tw + 4 * u, h - 3 * u, 4 * u, col["hw"]!, col["card"]!, 1 * u);
            this.write(c, look.tag, w + tw / 2, h / 2, small, col["hw-t"]!);
          }
          this.box(c, 0, 0, w, h, 6 * u, fill, col["card"]!, 3 * u);
          this.box(c, 0, 0, w, h, 6 * u, fill, line, 1.3 * u);
          this.write(c, look.words, w / 2, h / 2, font, look.hue ? col[`p${look.hue}-on`]! : col["on-ctl"]!);
        }, w / 2 + 4 * u);
      }
      case "ask":
        return this.canvasOf(28 * u, 22 * u, (c) => {
          c.translate(14 * u, 11 * u);
          c.beginPath();
          c.moveTo(-9 * u, -6.5 * u);
          c.lineTo(3 * u, -6.5 * u);
          c.lineTo(10 * u, 0);
          c.lineTo(3 * u, 6.5 * u);
          c.lineTo(-9 * u, 6.5 * u);
          c.closePath();
          c.fillStyle = col["card"]!;
          c.fill();
          c.lineWidth = 2.1 * u;
          c.lineJoin = "round";
          c.strokeStyle = line;
          c.stroke();
        });
      case "ack": case "refusal":
        return this.canvasOf(24 * u, 24 * u, (c) => {
          c.translate(12 * u, 12 * u);
          c.beginPath();
          c.arc(0, 0, 9.5 * u, 0, 7);
          c.fillStyle = look.kind === "ack" ? col["ok"]! : col["bad"]!;
          c.fill();
          c.strokeStyle = col["card"]!;
          c.lineWidth = 1.5 * u;
          c.stroke();
          c.lineWidth = 2.1 * u;
          c.lineCap = "round";
          c.lineJoin = "round";
          c.beginPath();
          if (look.kind === "ack") {
            c.moveTo(-4 * u, 0.2 * u);
            c.lineTo(-1.2 * u, 3.1 * u);
            c.lineTo(4.2 * u, -3 * u);
          } else {
            c.moveTo(0, -4.5 * u);
            c.lineTo(0, 0.8 * u);
            c.moveTo(0, 4.4 * u);
            c.lineTo(0, 4.5 * u);
          }
          c.stroke();
        });
      case "control": {
        const font = `580 ${11 * u}px ${FONT}`;
        const w = look.words ? this.measure(look.words, font) + 12 * u : 0;
        return this.canvasOf(26 * u + w, 26 * u, (c) => {
          c.translate(13 * u, 13 * u);
          if (w) {
            this.box(c, 8 * u, -9 * u, w + 3 * u, 18 * u, 5 * u, col["card"]!, col["ctl"]!, 1.1 * u);
            this.write(c, look.words, 10.5 * u + w / 2, 0, font, col["ctl"]!);
          }
          this.diamond(c, 7.6 * u, col["ctl"]!, col["card"]!);
        }, 13 * u);
      }
      case "small":
        return this.canvasOf(16 * u, 16 * u, (c) => {
          c.translate(8 * u, 8 * u);
          this.diamond(c, 5 * u, col["ctl"]!, col["card"]!);
        });
      case "question":
        return this.canvasOf(16 * u, 16 * u, (c) => {
          c.translate(8 * u, 8 * u);
          this.box(c, -6 * u, -6 * u, 12 * u, 12 * u, 3 * u, col["card"]!, col["muted"]!, 1.4 * u);
          this.write(c, look.answer ? "!" : "?", 0, 0, `700 ${9 * u}px ${FONT}`, col["muted"]!);
        });
      case "dot": {
        const font = `600 ${10 * u}px ${FONT}`;
        const w = look.tag ? this.measure(look.tag, font) + 8 * u : 0;
        return this.canvasOf(14 * u + w, 16 * u, (c) => {
          c.translate(7 * u, 8 * u);
          c.beginPath();
          c.arc(0, 0, 3.2 * u, 0, 7);
          c.fillStyle = look.hue ? col["card"]! : line;
          c.fill();
          c.strokeStyle = line;
          c.lineWidth = 1.5 * u;
          c.stroke();
          if (w) this.write(c, look.tag, 6 * u + w / 2, 0, font, look.hue ? col[`p${look.hue}-t`]! : col["muted"]!);
        }, 7 * u);
      }
    }
  }

  private diamond(c: CanvasRenderingContext2D, r: number, fill: string, line: string): void {
    c.beginPath();
    c.moveTo(0, -r);
    c.lineTo(r, 0);
    c.lineTo(0, r);
    c.lineTo(-r, 0);
    c.closePath();
    c.fillStyle = fill;
    c.fill();
    c.strokeStyle = line;
    c.lineWidth = 1.3;
    c.stroke();
  }

  private box(c: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, r: number, fill: string, line: string, width: number): void {
    c.beginPath();
    c.roundRect(x, y, w, h, r);
    c.strokeStyle = line;
    c.lineWidth = width;
    c.stroke();
    c.fillStyle = fill;
    c.fill();
  }

  private write(c: CanvasRenderingContext2D, words: string, x: number, y: number, font: string, colour: string): void {
    c.font = font;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = colour;
    c.fillText(words, x, y + 0.5);
  }

  // Widths are summed from those of the characters, which are measured once.
  private measure(words: string, font: string): number {
    let widths = this.widths.get(font);
    if (!widths) this.widths.set(font, (widths = new Map<string, number>()));
    let sum = 0;
    for (const ch of words) {
      let w = widths.get(ch);
      if (w === undefined) {
        this.context.font = font;
        widths.set(ch, (w = this.context.measureText(ch).width));
      }
      sum += w;
    }
    return sum;
  }

  /** canvasOf paints a picture on the present page; ax is where it is held, its middle unless told. */
  private canvasOf(w: number, h: number, paint: (c: CanvasRenderingContext2D) => void, ax = w / 2): Sprite {
    const [pw, ph] = [Math.ceil(w * this.ratio) + 2, Math.ceil(h * this.ratio) + 2];
    if (this.shelf.x + pw > this.page.width) {
      this.shelf.y += this.shelf.h;
      this.shelf.x = this.shelf.h = 0;
    }
    if (this.shelf.y + ph > this.page.height) {
      if (this.pages < PAGES) this.turn();
      else this.forget();
    }
    const { x, y } = this.shelf;
    this.shelf.x += pw;
    this.shelf.h = Math.max(this.shelf.h, ph);
    const c = this.painter;
    c.setTransform(this.ratio, 0, 0, this.ratio, x, y);
    c.globalAlpha = 1;
    paint(c);
    return { page: this.page, sx: x, sy: y, w: pw / this.ratio, h: ph / this.ratio, ax, ay: h / 2 };
  }

  private copy(s: Sprite, x: number, y: number): void {
    this.context.drawImage(s.page, s.sx, s.sy, s.w * this.ratio, s.h * this.ratio, x, y, s.w, s.h);
  }
}

const FONT = '"Inter Variable","Inter",system-ui,"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",sans-serif';

/** fraction is how much of its way's time a message has behind it. */
function fraction(m: MessageState, time: number): number {
  return m.deliverAt > m.sentAt ? ease.clamp((time - m.sentAt) / (m.deliverAt - m.sentAt)) : 1;
}

function lookOf(m: MessageState, s: Snapshot): Look {
  const part = m.parts.find((x) => x.values?.length) ?? m.parts[0];
  const partition = part?.partition ?? "";
  const hue = partition ? (s.partitions.findIndex((p) => p.name === partition) % 4) + 1 : 0;
  const look: Look = { kind: "small", hue, words: "", tag: "", strength: 1, partition, made: 0, answer: /_answer$|_pong$|_watch$/.test(m.what) };
  switch (m.what) {
    case "produce":
      return { ...look, kind: "data", words: valueRange(part?.values ?? []) };
    case "produce_answer":
      return { ...look, kind: m.error ? "refusal" : "ack" };
    case "fetch": {
      // News is when it tells the leader something that it did not know.
      const known = s.replicas.find((r) => r.broker === m.to && r.partition === partition)?.followers.find((f) => f.broker === m.from)?.leo;
      const news = isBroker(m.from) && m.parts.some((x) => {
        const r = s.replicas.find((y) => y.broker === m.to && y.partition === x.partition);
        return r?.role === "leader" && r.followers.find((f) => f.broker === m.from)?.leo !== x.offset;
      });
      return { ...look, kind: "ask", words: news && part?.offset !== undefined && known !== part.offset ? `fetch ${part.offset}` : "", strength: news ? 0.95 : 0.42 };
    }
    case "fetch_answer": {
      if (m.error) return { ...look, kind: "refusal" };
      const n = part?.values?.length ?? 0;
      const hw = part?.hw;
      // An empty answer can still bring news: a higher HW.
      const knows = s.replicas.find((r) => r.broker === m.to && r.partition === partition);
      const newer = hw !== undefined && knows !== undefined && hw > knows.hw && leo(knows) > knows.hw;
      if (n === 0) return { ...look, kind: "dot", tag: newer ? `HW ${hw}` : "", strength: newer ? 0.9 : 0.4 };
      return { ...look, kind: "data", words: range(part!.offset ?? 0, n), tag: hw === undefined ? "" : `HW ${hw}` };
    }
    case "epoch":
      return { ...look, kind: "ask", words: `epoch ${part?.epoch ?? "?"} ?` };
    case "epoch_answer":
      return { ...look, kind: m.error ? "refusal" : "data", words: `e${part?.epoch ?? "?"} → ${part?.offset ?? "?"}` };
    case "leader_and_isr":
      return { ...look, kind: "control", hue: 0, partition: "", words: "LeaderAndIsr" };
    case "stop_replica":
      return { ...look, kind: "control", hue: 0, partition: "", words: "StopReplica" };
    case "controlled_shutdown":
      return { ...look, kind: "control", hue: 0, partition: "", words: "ControlledShutdown" };
    case "zookeeper_watch":
      return { ...look, kind: "control", hue: 0, partition: "", words: "" };
    case "zookeeper":
      return { ...look, kind: "control", hue: 0, partition: "", words: "", strength: 0.9 };
    case "zookeeper_ping": case "zookeeper_pong":
      return { ...look, kind: "dot", hue: 0, partition: "", strength: 0.35 };
    case "metadata": case "metadata_answer": case "offsets": case "offsets_answer": case "init_producer_id": case "init_producer_id_answer":
      return { ...look, kind: "question", hue: 0, partition: "", strength: 0.75 };
    case "update_metadata":
      return { ...look, kind: "small", hue: 0, partition: "", strength: 0.55 };
  }
  return { ...look, hue: 0, partition: "", strength: 0.5 };
}

function range(first: number, count: number): string {
  if (count === 1) return String(first);
  return count === 2 ? `${first} ${first + 1}` : `${first}–${first + count - 1}`;
}

function valueRange(values: string[]): string {
  const s = (v: string) => (v.length > 7 ? `${v.slice(0, 6)}…` : v);
  if (values.length === 0) return "";
  return values.length === 1 ? s(values[0]!) : `${s(values[0]!)}–${s(values[values.length - 1]!)}`;
}
