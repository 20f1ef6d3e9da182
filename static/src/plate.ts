// One replica on the stage: its role, its log as cells, the high watermark, the log
// end, what the leader knows of its followers, and who waits here.

import { ICONS, icon, el, place, set, show, svg, text } from "./dom";
import { type PartitionFacts, diverges, isReplaced } from "./derive";
import * as ease from "./ease";
import type { LogWindow } from "./layout";
import { epochAt } from "./model";
import { type ReplicaState, isBroker, leo } from "./state";
import { type Scene, hueOf } from "./view";

interface Since { time: number; wall: number }
interface Cell {
  g: SVGGElement;
  box: SVGRectElement;
  mark: SVGPathElement;
  band: SVGRectElement;
  number: SVGTextElement;
  epoch: SVGTextElement;
  disk: SVGPathElement;
  hint: SVGTitleElement;
  key: string;
}

const MARKS: Record<string, string> = {
  diverged: "M-4.5 -2.5h9M-4.5 2.5h9M3 -7L-3 7",
  lost: "M-4 -4l8 8M4 -4l-8 8",
};

export class Plate {
  readonly root: HTMLElement;
  private readonly name = el("span", { class: "plate-name" });
  private readonly role = el("span", { class: "role" });
  private readonly isr = el("span", { class: "isr" });
  private readonly isrIcon = icon(13, 13, ICONS.tick);
  private readonly isrText = el("span");
  private readonly picture = svg("svg", { class: "log", "aria-hidden": "true" });
  private readonly cellLayer = svg("g");
  private readonly ghostLayer = svg("g");
  private readonly chip = svg("g", { class: "chip" }, svg("rect", { rx: 4 }), svg("text"));
  private readonly hw = svg("g", { class: "hw" }, svg("path", { class: "hw-halo" }), svg("path", { class: "hw-line" }), svg("path", { class: "hw-flag" }), svg("text"));
  private readonly end = svg("g", { class: "leo" }, svg("path"), svg("text"));
  private readonly beadLayer = svg("g");
  private readonly waits = el("div", { class: "waits" });
  private readonly cells: Cell[] = [];
  private window: LogWindow | undefined;
  private geometry = "";
  private beadKey = "";
  private waitKey = "";
  private seen: unknown[] = [];
  private hwShown = -1;
  private hwFrom = 0;
  private hwSince: Since | undefined;
  private hwMoved: Since | undefined;
  private hwLast = -1;
  private landing: { offset: number; since: Since }[] = [];
  private falling: { g: SVGGElement; delay: number; since: Since }[] = [];
  private glowing: Since | undefined;
  private scene: Scene | undefined;

  constructor(readonly broker: string, readonly partition: string) {
    this.isr.append(this.isrIcon, this.isrText);
    this.picture.append(this.chip, this.cellLayer, this.end, this.beadLayer, this.hw, this.ghostLayer);
    this.root = el("div", { class: "plate", role: "group" },
      el("div", { class: "plate-title" }, this.name, this.role, this.isr), this.picture, this.waits);
  }

  /** appended makes new records grow into their places. */
  appended(offset: number, count: number, since: Since): void {
    // Many at once would only be a flicker.
    if (this.landing.length + count > 24) return;
    for (let i = 0; i < count; i++) this.landing.push({ offset: offset + i, since });
  }

  /** truncated lets the cells from an offset on fall off, the last one first. */
  truncated(from: number, to: number, since: Since): void {
    const w = this.window;
    if (!w || !this.scene) return;
    const { plate, unit } = this.scene.layout;
    const first = Math.max(from, w.start);
    for (let o = Math.min(to, w.start + w.count) - 1, i = 0; o >= first; o--, i++) {
      const g = svg("g", { class: "cell ghost" },
        svg("rect", { x: 0.75, y: 0.75, width: w.cell - 1.5, height: plate.cellH - 1.5, rx: 3 * unit }),
        svg("path", { d: `M${3.5 * unit} ${plate.cellH - 4 * unit}L${w.cell - 3.5 * unit} ${4 * unit}` }));
      g.dataset["x"] = String(w.x0 + (o - w.start) * w.step);
      this.ghostLayer.append(g);
      this.falling.push({ g, delay: i * 60, since });
    }
  }

  /** moved tells when the high watermark changed, so that it slides from then on. */
  moved(since: Since): void {
    this.hwMoved = since;
  }

  /** turned marks a change of the ISR badge. */
  turned(since: Since): void {
    this.glowing = since;
  }

  patch(scene: Scene): void {
    this.scene = scene;
    const { layout, t, state } = scene;
    const p = scene.facts.partitions.get(this.partition)!;
    const r = state.replicas.find((x) => x.broker === this.broker && x.partition === this.partition);
    const process = state.brokers.find((b) => b.id === this.broker)?.state ?? "up";
    const sizes = layout.plate;
    const geometry = `${sizes.w}|${sizes.h}|${layout.unit}`;
    if (geometry !== this.geometry) {
      this.geometry = geometry;
      this.resize(scene);
    }
    this.patchWaits(scene, r, p);
    // Nearly all events leave nearly all plates as they are.
    const a = p.acting;
    const seen = [
      geometry, t, r?.values, r?.values.length, r?.hw, r?.flushed, r?.role, r?.epoch, r?.followers.map((f) => f.broker + ":" + f.leo).join(), process,
      p.epoch, p.leader, p.isr.join(), p.lostVersion, a?.values, a?.values.length, a?.logStart, p.maxLeo, p.manyEpochs,
    ];
    if (seen.length === this.seen.length && seen.every((x, i) => x === this.seen[i])) return;
    if (this.seen[1] !== t) for (const c of this.cells) c.key = ""; // their hints are in the other language
    this.seen = seen;
    set(this.root, "class", `plate ${hueOf(this.partition, scene)}${sizes.twoLines ? " two-lines" : ""}${layout.tight ? " tight" : ""}`);
    text(this.name, this.partition);

    const inISR = p.isr.includes(Number(this.broker));
    const replaced = r ? isReplaced(r, p) : false;
    set(this.root, "data-role", r?.role ?? "none");
    set(this.root, "data-isr", p.epoch < 0 ? "unknown" : inISR ? "in" : "out");
    set(this.root, "data-replaced", replaced ? "true" : undefined);
    const roleText = !r ? t("role.nolog")
      : process === "down" || process === "off" ? t("role.disk")
      : r.role === "leader" ? (replaced ? t("role.replaced", { epoch: r.epoch }) : t("role.leader", { epoch: r.epoch }))
      : r.role === "follower" ? t("role.follower") : t("role.none");
    text(this.role, roleText);
    show(this.isr, p.epoch >= 0);
    text(this.isrText, inISR ? t("isr.in") : t("isr.out"));
    set(this.isrIcon.firstElementChild!, "d", inISR ? ICONS.tick : ICONS.none);

    const w = layout.window(p.maxLeo);
    this.window = w;
    this.patchCells(scene, r, p, w);
    this.patchMarks(scene, r, w);
    set(this.root, "aria-label", r ? t("plate.label", {
      partition: this.partition, broker: this.broker, role: roleText, leo: leo(r), hw: r.hw, isr: p.epoch < 0 ? "" : inISR ? t("isr.in") : t("isr.out"),
      flushed: r.flushed,
    }) : t("plate.nolog", { partition: this.partition, broker: this.broker }));
    if (r) this.root.title = replaced ? t("role.replaced.hint", { leader: p.leader, epoch: p.epoch }) : "";
  }

  /** animate moves what is moving; it reports whether anything still does. */
  animate(time: number, now: number): boolean {
    let busy = false;
    const w = this.window;
    if (!w || !this.scene) return false;
    const { plate, unit } = this.scene.layout;
    if (this.hwSince) {
      const distance = Math.abs(this.hwShown - this.hwFrom);
      const u = ease.progress(this.hwSince, time, now, Math.min(320 * Math.max(distance, 1), 600));
      this.placeHW(this.hwFrom + (this.hwShown - this.hwFrom) * ease.out(u));
      if (u < 1) busy = true;
      else this.hwSince = undefined;
    }
    if (this.landing.length > 0) {
      this.landing = this.landing.filter(({ offset, since }) => {
        const cell = this.cells[offset - w.start];
        const u = ease.progress(since, time, now, 200);
        if (cell && offset >= w.start) {
          const s = u < 1 ? 0.35 + 0.65 * ease.out(u) : 1;
          const [x, y] = [w.x0 + (offset - w.start) * w.step, plate.cellY - plate.flagY];
          const [cx, cy] = [(w.cell / 2) * (1 - s), (plate.cellH / 2) * (1 - s) - (1 - s) * 14 * unit];
          cell.g.setAttribute("transform", s < 1 ? `translate(${x + cx} ${y + cy}) scale(${s})` : `translate(${x} ${y})`);
        }
        return u < 1;
      });
      busy ||= this.landing.length > 0;
    }
    if (this.falling.length > 0) {
      this.falling = this.falling.filter((f) => {
        const u = ease.progress(f.since, time, now, 900);
        const own = ease.clamp((u * 900 - Math.min(f.delay, 420)) / 480);
        const e = ease.into(own);
        f.g.setAttribute("transform", `translate(${f.g.dataset["x"]} ${plate.cellY - plate.flagY + e * 34 * unit}) rotate(${e * 9})`);
        f.g.setAttribute("opacity", String(own > 0.3 ? 1 - (own - 0.3) / 0.7 : 1));
        if (u >= 1) f.g.remove();
        return u < 1;
      });
      busy ||= this.falling.length > 0;
    }
    if (this.glowing) {
      const u = ease.progress(this.glowing, time, now, 900);
      this.isr.style.setProperty("--glow", String(Math.round((1 - u) * 100) / 100));
      if (u < 1) busy = true;
      else this.glowing = undefined;
    }
    return busy;
  }

  private resize(scene: Scene): void {
    const { plate } = scene.layout;
    this.picture.setAttribute("width", String(plate.w));
    this.picture.setAttribute("height", String(plate.chipY - plate.flagY));
    this.picture.style.top = `${plate.flagY}px`;
    for (const c of this.cells) c.g.remove();
    this.cells.length = 0;
    this.beadKey = "";
    this.hwLast = -1;
  }

  private patchCells(scene: Scene, r: ReplicaState | undefined, p: PartitionFacts, w: LogWindow): void {
    const { plate, unit } = scene.layout;
    while (this.cells.length > w.count) this.cells.pop()!.g.remove();
    while (this.cells.length < w.count) {
      const c = makeCell();
      this.cells.push(c);
      this.cellLayer.append(c.g);
    }
    const size = w.cell < 17 * unit ? "small" : "";
    for (let i = 0; i < w.count; i++) {
      const c = this.cells[i]!;
      const offset = w.start + i;
      const place = r ? offset - r.logStart : -1;
      const there = r !== undefined && place >= 0 && place < r.values.length;
      let state = "empty";
      let value = "";
      let epoch = -1;
      let disk = "";
      if (there) {
        value = r.values[place]!;
        epoch = epochAt(r.epochs, place);
        state = p.lost.has(value) ? "lost" : diverges(r, p, offset) ? "diverged" : offset < r.hw ? "committed" : "pending";
        disk = offset < r.flushed ? "disk" : "cache";
      }
      const key = `${w.x0}|${w.cell}|${offset}|${state}|${value}|${epoch}|${disk}|${p.manyEpochs}|${size}`;
      if (key === c.key) continue;
      c.key = key;
      const h = plate.cellH;
      const banded = there && p.manyEpochs;
      c.g.setAttribute("transform", `translate(${w.x0 + i * w.step} ${plate.cellY - plate.flagY})`);
      c.g.setAttribute("class", `cell ${state} ${size} ${banded ? `banded tint${epoch % 3}` : ""}`);
      setBox(c.box, 0.6, 0.6, w.cell - 1.2, h - 1.2, 3.2 * unit);
      const mark = MARKS[state] ?? "";
      c.mark.setAttribute("d", mark);
      c.mark.setAttribute("transform", `translate(${w.cell / 2} ${banded ? h * 0.62 : h / 2}) scale(${unit * (banded ? 0.8 : 1)})`);
      c.number.textContent = there && !mark ? String(offset) : "";
      c.number.setAttribute("x", String(w.cell / 2));
      c.number.setAttribute("y", String(banded ? h - 6 * unit : h / 2 + 4 * unit));
      c.band.setAttribute("visibility", banded ? "visible" : "hidden");
      setBox(c.band, 0.6, 0.6, w.cell - 1.2, 12 * unit, 3.2 * unit);
      c.epoch.textContent = banded ? `e${epoch}` : "";
      c.epoch.setAttribute("x", String(w.cell / 2));
      c.epoch.setAttribute("y", String(9.6 * unit));
      const y = plate.flushY - plate.cellY;
      c.disk.setAttribute("class", `flush ${disk}`);
      c.disk.setAttribute("d", disk === "disk" ? `M0 ${y + 2 * unit}h${w.cell}` : disk === "cache"
        ? `M${w.cell / 2 - 6 * unit} ${y + 2 * unit}h.01M${w.cell / 2} ${y + 2 * unit}h.01M${w.cell / 2 + 6 * unit} ${y + 2 * unit}h.01` : "");
      c.hint.textContent = there ? scene.t(`cell.${state}`, { offset, value, epoch, disk: scene.t(disk === "disk" ? "cell.disk" : "cell.cache") }) : "";
    }
  }

  private patchMarks(scene: Scene, r: ReplicaState | undefined, w: LogWindow): void {
    const { plate, unit } = scene.layout;
    const top = plate.flagY;
    // What is before the window.
    const before = r ? Math.min(leo(r), w.start) : 0;
    const [chipBox, chipText] = this.chip.children as unknown as [SVGRectElement, SVGTextElement];
    set(this.chip, "visibility", w.chip > 0 && before > 0 ? "visible" : "hidden");
    if (w.chip > 0 && before > 0 && r) {
      setBox(chipBox, plate.pad + 0.6, plate.cellY - top + 0.6, w.chip - 1.2, plate.cellH - 1.2, 4 * unit);
      set(chipText, "x", plate.pad + w.chip / 2);
      set(chipText, "y", plate.cellY - top + plate.cellH / 2 + 4 * unit);
      text(chipText, before - 1 === r.logStart ? String(r.logStart) : w.brief > 0 ? `…${w.brief === 1 ? before - 1 : ""}` : `${r.logStart}–${before - 1}`);
      set(this.chip, "class", `chip ${r.hw >= before ? "committed" : "pending"}`);
    }
    // Log end.
    const [caret, endText] = this.end.children as unknown as [SVGPathElement, SVGTextElement];
    set(this.end, "visibility", r ? "visible" : "hidden");
    if (r) {
      const x = this.edgeX(leo(r));
      const y = plate.leoY - top;
      const label = `LEO ${leo(r)}`;
      const width = label.length * 6.4 * unit;
      set(caret, "d", `M${x} ${y}l${4.5 * unit} ${7 * unit}h${-9 * unit}z`);
      const right = x + 8 * unit + width <= plate.w - 4 * unit;
      set(endText, "x", right ? x + 8 * unit : x - 8 * unit);
      endText.style.textAnchor = right ? "start" : "end";
      set(endText, "y", y + 8.5 * unit);
      text(endText, label);
    }
    // High watermark.
    set(this.hw, "visibility", r ? "visible" : "hidden");
    if (r && r.hw !== this.hwShown) {
      // It slides from where it is, but never from outside of what is drawn.
      if (this.hwMoved && this.hwLast >= 0) {
        this.hwFrom = Math.max(this.hwLast, Math.min(w.start, r.hw), r.hw - 4);
        this.hwSince = this.hwMoved;
      }
      this.hwMoved = undefined;
      this.hwShown = r.hw;
    }
    if (r && !this.hwSince) this.placeHW(r.hw);
    // Beads: what a leader knows of its followers.
    const followers = r?.role === "leader" ? r.followers.filter((f) => f.leo >= 0) : [];
    const key = followers.map((f) => `${f.broker}:${f.leo}`).join(" ") + `|${w.start}|${w.step}|${w.x0}`;
    if (key !== this.beadKey) {
      this.beadKey = key;
      this.beadLayer.replaceChildren();
      const at = new Map<number, string[]>();
      for (const f of followers) at.set(f.leo, [...(at.get(f.leo) ?? []), f.broker]);
      let free = 0;
      for (const [o, ids] of [...at].sort((a, b) => a[0] - b[0])) {
        const x = this.edgeX(o);
        const size = 15 * unit;
        let first = x - ((ids.length - 1) * size) / 2;
        first = Math.max(Math.min(first, plate.w - 9 * unit - (ids.length - 1) * size), 9 * unit, free + 8 * unit);
        const y = plate.beadY - top;
        this.beadLayer.append(svg("path", { class: "bead-stem", d: `M${Math.max(x, 3 * unit)} ${y - 4 * unit}v${5 * unit}` }));
        ids.forEach((id, i) => {
          this.beadLayer.append(svg("g", { class: "bead", transform: `translate(${first + i * size} ${y + 7 * unit})` },
            svg("circle", { r: 7 * unit }), textAt(id, 0, 3.8 * unit)));
        });
        free = first + (ids.length - 0.5) * size;
      }
    }
  }

  /** edgeX is where the line before an offset is; for one before the window, under or on the chip. */
  private edgeX(offset: number): number {
    const w = this.window!;
    const gap = (w.step - w.cell) / 2;
    if (offset < w.start) return offset === 0 ? this.scene!.layout.plate.pad : this.scene!.layout.plate.pad + w.chip / 2;
    return w.x0 + Math.min(offset - w.start, w.count) * w.step - gap;
  }

  private placeHW(at: number): void {
    if (!this.scene || !this.window) return;
    const { plate, unit } = this.scene.layout;
    const w = this.window;
    const lower = Math.floor(at);
    // Before the window it stands at the end of the chip, with an arrow in the flag.
    const edge = (o: number) => (o < w.start ? w.x0 - 1.5 * (w.step - w.cell) : this.edgeX(o));
    const x = edge(lower) + (edge(lower + 1) - edge(lower)) * (at - lower);
    this.hwLast = at;
    const [halo, line, flag, label] = this.hw.children as unknown as [SVGPathElement, SVGPathElement, SVGPathElement, SVGTextElement];
    const top = plate.flagY;
    const words = `${this.hwShown < w.start ? "◂ " : ""}HW ${this.hwShown}`;
    const width = (words.length * 7 + 9) * unit;
    const left = x + width > plate.w - 3 * unit;
    const bottom = plate.flushY - top + 5 * unit;
    set(halo, "d", `M${x} ${plate.cellY - top - 2 * unit}V${bottom}`);
    set(line, "d", `M${x} 0V${bottom}`);
    const fx = left ? x + 1.2 - width : x - 1.2;
    set(flag, "d", `M${fx} 0h${width}v${16 * unit}h${-width}z`);
    set(label, "x", fx + width / 2);
    set(label, "y", 12 * unit);
    text(label, words);
  }

  private patchWaits(scene: Scene, r: ReplicaState | undefined, p: PartitionFacts): void {
    const { t, state } = scene;
    const chips: [string, string][] = [];
    if (r?.role === "leader") {
      const produces = state.parked.filter((x) => x.produce && x.broker === this.broker && x.partition === this.partition);
      const clients = [...new Set(produces.map((x) => x.from))];
      for (const c of clients) {
        const own = produces.filter((x) => x.from === c);
        const least = Math.min(...own.map((x) => x.offset!));
        chips.push(["produce", own.length > 1 ? t("wait.produces", { id: c, offset: least, count: own.length }) : t("wait.produce", { id: c, offset: least })]);
      }
      if (r.isr.join() !== p.isr.join()) chips.push(["own", t("isr.own", { isr: r.isr.join(", ") })]);
      const fetchers = state.parked.filter((x) => !x.produce && x.broker === this.broker && this.isAbout(scene, x.from)).map((x) => x.from);
      if (fetchers.length > 0) chips.push(["fetch", t("wait.fetch", { ids: [...new Set(fetchers)].join(", ") })]);
    }
    const key = chips.join("|");
    if (key === this.waitKey) return;
    this.waitKey = key;
    this.waits.replaceChildren(...chips.map(([cls, words]) => el("span", { class: `wait ${cls}`, title: words }, words)));
  }

  // A waiting fetch is about every partition that its sender reads here.
  private isAbout(scene: Scene, from: string): boolean {
    if (!isBroker(from)) return scene.state.readers.some((x) => x.node === from && x.partition === this.partition);
    return scene.state.replicas.some((x) => x.broker === from && x.partition === this.partition && x.role === "follower" && String(x.leader) === this.broker);
  }
}

function makeCell(): Cell {
  const box = svg("rect", { class: "box" });
  const band = svg("rect", { class: "band" });
  const mark = svg("path", { class: "mark" });
  const number = svg("text", { class: "number" });
  const epoch = svg("text", { class: "epoch" });
  const disk = svg("path", { class: "flush" });
  const hint = svg("title");
  const g = svg("g", { class: "cell" }, hint, box, band, mark, number, epoch, disk);
  return { g, box, band, mark, number, epoch, disk, hint, key: "" };
}

function setBox(r: SVGRectElement, x: number, y: number, w: number, h: number, rx: number): void {
  set(r, "x", x);
  set(r, "y", y);
  set(r, "width", Math.max(w, 0));
  set(r, "height", Math.max(h, 0));
  set(r, "rx", rx);
}

function textAt(words: string, x: number, y: number): SVGTextElement {
  const e = svg("text", { x, y });
  e.textContent = words;
  return e;
}

/** holeAt makes the place where a broker has no replica of a partition. */
export function makeHole(): { root: HTMLElement; patch(scene: Scene, r: { x: number; y: number; w: number; h: number }): void } {
  const words = el("span");
  const root = el("div", { class: "hole" }, words);
  return {
    root,
    patch(scene, r) {
      place(root, r);
      text(words, scene.t("plate.none"));
    },
  };
}
