// The producers and the consumers on the stage: with what acks they write, what
// they wait for, what they have read.

import { ICONS, List, el, icon, place, set, text } from "./dom";
import { durationText } from "./caption";
import type { ProducerState, ReaderState, RecordState } from "./state";
import { type Scene, hueOf } from "./view";

interface Row { root: HTMLElement; title: HTMLElement; acks: HTMLElement; note: HTMLElement; chips: HTMLElement; key: string }

function makeRow(): Row {
  const [title, acks, note, chips] = [el("span", { class: "client-name" }), el("span", { class: "acks" }), el("span", { class: "client-note" }), el("div", { class: "client-chips" })];
  return { root: el("li", { class: "client" }, el("div", { class: "client-line" }, title, acks, note), chips), title, acks, note, chips, key: "" };
}

/** fitting is the longest end of a list of chips that a card of this width has room for. */
function fitting<T>(all: T[], width: number, unit: number, label: (x: T) => number): T[] {
  let free = width / unit - 32;
  let i = all.length;
  while (i > 0) {
    free -= Math.max(label(all[i - 1]!) * 6.6 + 11, 24) + 3;
    if (free < -3) break;
    i--;
  }
  return all.slice(i);
}

export class ProducersCard {
  readonly root: HTMLElement;
  private readonly name = el("h2", { class: "card-name" });
  private readonly list = el("ul");
  private readonly rows: List<ProducerState, Row>;
  private scene!: Scene;

  constructor() {
    this.root = el("section", { class: "card clients" }, el("div", { class: "card-title" }, icon(14, 14, ICONS.producer), this.name), this.list);
    this.rows = new List(this.list, makeRow, (row, p) => this.row(row, p));
  }

  patch(scene: Scene): void {
    this.scene = scene;
    place(this.root, scene.layout.producers);
    text(this.name, scene.t("producers"));
    set(this.root, "aria-label", scene.t("producers"));
    this.rows.update(scene.state.producers, (p) => p.node);
  }

  private row(row: Row, p: ProducerState): void {
    const { state, facts, t, layout } = this.scene;
    text(row.title, `${p.node} → ${p.partition}`);
    text(row.acks, `acks=${p.acks === -1 ? "all" : p.acks}${p.idempotent ? ` ${t("producer.idempotent")}` : ""}`);
    set(row.acks, "title", !p.idempotent ? undefined : p.producerId < 0 ? t("producer.id.none") : t("producer.id", { id: p.producerId }));
    set(row.root, "class", `client ${hueOf(p.partition, this.scene)}`);
    const lost = facts.partitions.get(p.partition)?.lost;
    // The newest records, and before them whatever still waits or is lost.
    const all = this.recordsOf(state.records, p.node);
    let [told, lostCount, waiting] = [0, 0, 0];
    for (const r of all) {
      if (r.fate === "acked" || r.fate === "assumed") told++;
      else if (r.fate !== "failed") waiting++;
      if (lost?.has(r.value) && (r.fate === "acked" || r.fate === "assumed")) lostCount++;
    }
    const note = [
      lostCount > 0 ? t("producer.lost", { count: lostCount }) : "",
      p.every > 0 ? t("producer.stream", { duration: durationText(p.every) }) : "",
    ].filter(Boolean).join(" · ");
    text(row.note, note || (waiting > 0 ? t("producer.waiting", { count: waiting }) : ""));
    set(row.note, "title", note || undefined);
    set(row.note, "data-bad", lostCount > 0 ? "true" : undefined);
    const isLost = (r: RecordState) => (r.fate === "acked" || r.fate === "assumed") && lost?.has(r.value) === true;
    const width = (r: RecordState) => short(r.value).length + 1.9;
    const latest = fitting(all, layout.producers.w, layout.unit, width);
    // Some of the lost ones stay in sight, whatever comes after them.
    const gone = lostCount > 0 ? all.filter(isLost).slice(-3).filter((r) => !latest.includes(r)) : [];
    const rest = gone.length === 0 ? latest : fitting(all.filter((r) => !gone.includes(r)),
      layout.producers.w - gone.reduce((n, r) => n + (width(r) * 6.6 + 14) * layout.unit, 0), layout.unit, width);
    const shown = [...gone, ...rest];
    const more = all.length - shown.length;
    const key = `${t("producers")}|${more}|${told}|` + shown.map((r) => `${r.value}:${r.fate}:${lost?.has(r.value)}:${r.sequence}`).join();
    if (key === row.key) return;
    row.key = key;
    const chips = shown.map((r) => {
      const fate = isLost(r) ? "lost" : r.fate;
      const numbers = r.producerId < 0 ? "" : ` (${t("fate.sequence", { id: r.producerId, sequence: r.sequence })})`;
      const hint = t(`fate.${fate}`, { value: r.value, error: r.error, offset: r.offset }) + numbers;
      return el("span", { class: `rec ${fate}`, title: hint }, el("span", { class: "rec-mark", "aria-hidden": "true" }, FATE_MARKS[fate]!), short(r.value), el("span", { class: "unseen" }, ` ${hint}`));
    });
    row.chips.replaceChildren(...(all.length === 0 ? [el("span", { class: "client-empty" }, t("producer.none"))] : chips));
  }

  // A producer's records are found once and then only looked for among the new ones.
  private readonly found = new Map<string, { ledger: RecordState[]; upTo: number; own: RecordState[] }>();

  private recordsOf(ledger: RecordState[], node: string): RecordState[] {
    let f = this.found.get(node);
    if (!f || f.ledger !== ledger) this.found.set(node, (f = { ledger, upTo: 0, own: [] }));
    for (; f.upTo < ledger.length; f.upTo++) if (ledger[f.upTo]!.producer === node) f.own.push(ledger[f.upTo]!);
    return f.own;
  }
}

const FATE_MARKS: Record<string, string> = { queued: "·", sent: "…", acked: "✓", assumed: "?", failed: "!", lost: "✕" };

export class ConsumersCard {
  readonly root: HTMLElement;
  private readonly name = el("h2", { class: "card-name" });
  private readonly list = el("ul");
  private readonly rows: List<ReaderState, Row>;
  private scene!: Scene;

  constructor() {
    this.root = el("section", { class: "card clients" }, el("div", { class: "card-title" }, icon(14, 14, ICONS.consumer), this.name), this.list);
    this.rows = new List(this.list, makeRow, (row, r) => this.row(row, r));
  }

  patch(scene: Scene): void {
    this.scene = scene;
    place(this.root, scene.layout.consumers);
    text(this.name, scene.t("consumers"));
    set(this.root, "aria-label", scene.t("consumers"));
    this.rows.update(scene.state.readers, (r) => r.node);
  }

  private row(row: Row, r: ReaderState): void {
    const { t, layout } = this.scene;
    text(row.title, `${r.node} ← ${r.partition}`);
    text(row.acks, r.position < 0 ? t("reader.unknown") : t("reader.position", { offset: r.position }));
    text(row.note, r.committed < 0 ? "" : t("reader.committed", { offset: r.committed }));
    row.note.title = r.committed < 0 ? "" : t("reader.committed_hint", { offset: r.committed });
    set(row.root, "class", `client ${hueOf(r.partition, this.scene)}`);
    const shown = fitting(r.read, layout.consumers.w, layout.unit, (x) => String(x.offset).length);
    const key = `${t("consumers")}|${r.read.length}|${shown.map((x) => `${x.offset}${x.value}`).join()}`;
    if (key === row.key) return;
    row.key = key;
    row.chips.replaceChildren(...(shown.length === 0 ? [el("span", { class: "client-empty" }, t("reader.none"))]
      : shown.map((x) => el("span", { class: "rec read", title: t("reader.read", { offset: x.offset, value: x.value }) }, String(x.offset)))));
  }
}

function short(value: string): string {
  return value.length > 6 ? `${value.slice(0, 5)}…` : value;
}
