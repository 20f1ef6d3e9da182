// A broker on the stage: its head with what it is and does, its faults within
// reach, and the plates of its replicas.

import { type Boot, boot, linkBetween, remaining } from "./derive";
import { ICONS, el, icon, place, set, show, text } from "./dom";
import { Plate, makeHole } from "./plate";
import { isZooKeeper } from "./state";
import type { Deeds, Scene } from "./view";

/** What a card says a broker is doing. */
export type Doing = "running" | "forgotten" | "down" | "off" | "frozen" | Exclude<Boot, "">;

/** doing sums a broker's state up. */
export function doing(scene: Scene, id: string): Doing {
  const b = scene.state.brokers.find((x) => x.id === id)!;
  if (b.state !== "up") return b.state;
  const joining = boot(scene.state, scene.facts, id);
  if (joining) return joining;
  // It believes that it is registered; ZooKeeper may have ended its session already.
  return scene.facts.registered.some((r) => r.id === Number(id)) ? "running" : "forgotten";
}

/** canStart tells a broker that does not run from one that can be stopped. */
export function canStart(scene: Scene, id: string): boolean {
  const b = scene.state.brokers.find((x) => x.id === id);
  return b?.state === "down" || b?.state === "off";
}

export class BrokerCard {
  readonly root: HTMLElement;
  readonly plates = new Map<string, Plate>();
  private readonly holes = new Map<string, ReturnType<typeof makeHole>>();
  private readonly name = el("h2", { class: "card-name" });
  private readonly crown = icon(16, 13, ICONS.crown, "crown");
  private readonly sub = el("p", { class: "card-sub" });
  private readonly subIcon = el("i", { class: "lamp" });
  private readonly subText = el("span");
  private readonly chips = el("span", { class: "chips" });
  private readonly power = el("button", { type: "button", class: "button danger power" });
  private readonly powerIcon = icon(14, 14, ICONS.power);
  private readonly powerText = el("span");
  private readonly more = el("button", { type: "button", class: "icon-button more" }, icon(14, 14, ICONS.more));
  private chipKey = "";
  private scene: Scene | undefined;

  constructor(readonly id: string, private readonly deeds: Deeds) {
    this.power.append(this.powerIcon, this.powerText);
    this.sub.append(this.subIcon, this.subText);
    const head = el("div", { class: "card-head" },
      el("div", { class: "card-row" }, icon(20, 20, ICONS.server, "server"), this.name, this.crown, el("span", { class: "spacer" }), this.power, this.more),
      el("div", { class: "card-below" }, this.sub, this.chips));
    this.root = el("section", { class: "card broker", tabindex: 0, role: "group", "data-broker": id }, head);
    this.power.addEventListener("click", () => this.toggle());
    this.more.addEventListener("click", () => deeds.choose(id));
  }

  /** toggle stops the broker, or starts it again. */
  toggle(): void {
    if (!this.scene) return;
    this.deeds.statement(`${canStart(this.scene, this.id) ? "start" : "stop"} broker ${this.id}`);
  }

  patch(scene: Scene): void {
    this.scene = scene;
    const { layout, t, state, facts } = scene;
    const b = state.brokers.find((x) => x.id === this.id)!;
    place(this.root, layout.brokers.get(this.id)!);
    const d = doing(scene, this.id);
    set(this.root, "data-doing", d);
    set(this.root, "class", `card broker${layout.compact ? " compact" : ""}${layout.tight ? " tight" : ""}`);
    text(this.name, t("broker.name", { id: this.id }));
    // The crown is for whom the znode names; a broker that only believes so is told apart in words.
    const named = facts.controller === Number(this.id);
    set(this.crown, "visibility", named ? "visible" : "hidden");
    this.crown.style.display = named ? "" : "none";
    // The session that owns its registration; a restarted broker may have another one already.
    const owner = facts.registered.find((r) => r.id === Number(this.id))?.session;
    const session = state.sessions.find((x) => x.id === owner);
    let words = t(`doing.${d}`);
    if ((d === "down" || d === "off" || d === "frozen" || d === "refused") && session) {
      const left = { seconds: seconds(remaining(session, scene.time)) };
      words = d === "refused" ? t("doing.refused.until", left) : `${words} · ${t("doing.session", left)}`;
    }
    if (named) words = `${t("controller")}${d === "running" ? "" : ` · ${words}`}`;
    else if (b.controller) words = `${t("controller.believes")} · ${words}`;
    text(this.subText, words);
    set(this.sub, "title", words);
    const start = canStart(scene, this.id);
    set(this.powerIcon.firstElementChild!, "d", start ? ICONS.start : ICONS.power);
    set(this.power, "class", `button power ${start ? "" : "danger"}`);
    text(this.powerText, t(start ? "fault.start" : "fault.stop"));
    set(this.power, "aria-label", t(start ? "fault.start.label" : "fault.stop.label", { id: this.id }));
    set(this.power, "title", t(start ? "fault.start.label" : "fault.stop.label", { id: this.id }));
    set(this.more, "aria-label", t("fault.more", { id: this.id }));
    set(this.more, "title", t("fault.more", { id: this.id }));
    this.patchChips(scene);
    for (const p of state.partitions) {
      const rect = layout.plates.get(`${this.id}|${p.name}`);
      const card = layout.brokers.get(this.id)!;
      if (rect) {
        this.holes.get(p.name)?.root.remove();
        this.holes.delete(p.name);
        let plate = this.plates.get(p.name);
        if (!plate) {
          this.plates.set(p.name, (plate = new Plate(this.id, p.name)));
          this.root.append(plate.root);
        }
        place(plate.root, { ...rect, x: rect.x - card.x - 1, y: rect.y - card.y - 1 });
        plate.patch(scene);
        continue;
      }
      this.plates.get(p.name)?.root.remove(); // it has been moved to other brokers
      this.plates.delete(p.name);
      const free = layout.holes.get(`${this.id}|${p.name}`);
      let hole = this.holes.get(p.name);
      if (!free) {
        hole?.root.remove();
        this.holes.delete(p.name);
        continue;
      }
      if (!hole) {
        this.holes.set(p.name, (hole = makeHole()));
        this.root.append(hole.root);
      }
      hole.patch(scene, { ...free, x: free.x - card.x - 1, y: free.y - card.y - 1 });
    }
    const led = state.replicas.filter((r) => r.broker === this.id && r.role === "leader").map((r) => r.partition);
    set(this.root, "aria-label", t("broker.label", { id: this.id, doing: words, leads: led.length > 0 ? t("broker.leads", { partitions: led.join(", ") }) : "" }));
  }

  animate(time: number, now: number): boolean {
    let busy = false;
    for (const p of this.plates.values()) if (p.animate(time, now)) busy = true;
    return busy;
  }

  // What is wrong with this broker's links and what is held back, in short words.
  private patchChips(scene: Scene): void {
    const { state, t } = scene;
    const b = state.brokers.find((x) => x.id === this.id)!;
    const others = [...new Set(state.links.flatMap((l) => (l.from === this.id ? [l.to] : l.to === this.id ? [l.from] : [])))];
    const chips: [string, string, string][] = [];
    for (const o of others) {
      const l = linkBetween(state, this.id, o);
      const name = isZooKeeper(o) ? "ZK" : o;
      if (l.cut) chips.push(["cut", t("chip.cut", { x: arrow(l.cut) + name }), t("link.cut", { a: this.id, b: name })]);
      if (l.held) chips.push(["held", t("chip.held", { x: arrow(l.held) + name }), t("link.held", { a: this.id, b: name })]);
      if (l.slow > 0) chips.push(["slow", t("chip.slow", { x: name }), t("link.slow", { a: this.id, b: name, ms: l.slow / 1000 })]);
      if (l.drop) chips.push(["cut", t("chip.drop", { x: arrow(l.drop) + name }), t("link.drop", { a: this.id, b: name })]);
    }
    if (b.fetchesHeld) chips.push(["held", t("held.fetches"), t("held.fetches.hint", { id: this.id })]);
    if (b.controlHeld) chips.push(["held", t("held.control"), t("held.control.hint", { id: this.id })]);
    if (b.diskSlow > 0) chips.push(["slow", t("chip.disk"), t("chip.disk.hint", { id: this.id, ms: b.diskSlow / 1000 })]);
    const key = chips.map((c) => c.join()).join("|");
    if (key === this.chipKey) return;
    this.chipKey = key;
    this.chips.replaceChildren(...chips.map(([cls, words, hint]) => el("span", { class: `chip ${cls}`, title: hint }, words)));
    show(this.chips, chips.length > 0);
  }
}

// An arrow where only one direction is concerned: 1 to the other, 2 from it.
function arrow(way: number): string {
  return way === 1 ? "→" : way === 2 ? "←" : "";
}

/** seconds writes a duration as seconds with one decimal, for countdowns. */
export function seconds(us: number): string {
  return (Math.ceil(us / 100_000) / 10).toFixed(1);
}
