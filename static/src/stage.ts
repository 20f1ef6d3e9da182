// The stage: one element for each thing in the cluster, patched when events have
// changed the state, and one canvas above them for what is under way.

import { BrokerCard } from "./brokercard";
import { ConsumersCard, ProducersCard } from "./clientcards";
import { svg } from "./dom";
import { Flight } from "./flight";
import { Links } from "./links";
import type { Model } from "./model";
import { type Event, leo } from "./state";
import type { Deeds, Scene } from "./view";
import { ZooKeeperCard } from "./zookeepercard";

export class Stage {
  readonly flight = new Flight();
  readonly brokers = new Map<string, BrokerCard>();
  private readonly producers = new ProducersCard();
  private readonly consumers = new ConsumersCard();
  private readonly zookeeper = new ZooKeeperCard();
  private readonly links = new Links();
  private current: HTMLElement | undefined;

  constructor(private readonly root: HTMLElement, private readonly deeds: Deeds) {
    root.append(patterns(), this.links.root, this.producers.root, this.zookeeper.root, this.consumers.root, this.flight.canvas);
    this.flight.recolour();
    root.addEventListener("keydown", (e) => this.walk(e));
    // The broker that has the focus is the one that the panel's faults are about.
    root.addEventListener("focusin", (e) => {
      const id = (e.target as HTMLElement).closest<HTMLElement>("[data-broker]")?.dataset["broker"];
      if (id) deeds.look(id);
    });
  }

  /** note takes an event before it is folded into the model, for the effects that it has on the picture. */
  note(e: Event, before: Model, time: number, now: number): void {
    const since = { time: e.time, wall: now };
    const plate = e.node && e.partition ? this.brokers.get(e.node)?.plates.get(e.partition) : undefined;
    switch (e.kind) {
      case "log_appended":
        plate?.appended(e.offset!, e.values!.length, since);
        break;
      case "high_watermark_advanced": case "high_watermark_lowered":
        plate?.moved(since);
        break;
      case "log_truncated": case "log_tail_lost": case "log_restarted": case "log_trimmed": {
        const r = before.replica(e.node, e.partition);
        if (r && e.kind === "log_trimmed") plate?.truncated(r.logStart, e.offset!, since);
        else if (r) plate?.truncated(e.kind === "log_restarted" ? r.logStart : e.offset!, leo(r), since);
        break;
      }
      case "znode_created": case "znode_changed": case "znode_deleted":
        this.zookeeper.touched(e.path!, since);
        if (e.kind === "znode_changed" || e.kind === "znode_created") this.badges(e, since);
        break;
      case "message_lost": {
        const m = before.message(e.message);
        if (m) this.flight.lost(m, before.state, e.time, now);
        break;
      }
      case "controller_elected": {
        const old = before.state.brokers.find((b) => b.controller)?.id ?? this.lastController;
        if (old && time >= e.time) this.flight.crowned(old, e.node!, e.time, now);
        this.lastController = e.node!;
      }
    }
  }

  private lastController = "";

  /** restart forgets the cluster of an earlier run. */
  restart(): void {
    for (const b of this.brokers.values()) b.root.remove();
    this.brokers.clear();
    this.lastController = "";
  }

  /** resize takes a new layout. */
  resize(scene: Scene): void {
    this.root.classList.toggle("column", scene.layout.column);
    this.root.style.width = `${scene.layout.width}px`;
    this.root.style.height = `${scene.layout.height}px`;
    this.flight.resize(scene.layout);
  }

  /** patch makes the elements say what the scene is. */
  patch(scene: Scene): void {
    for (const b of scene.state.brokers) {
      let card = this.brokers.get(b.id);
      if (!card) {
        this.brokers.set(b.id, (card = new BrokerCard(b.id, this.deeds)));
        this.root.insertBefore(card.root, this.flight.canvas);
      }
      card.patch(scene);
    }
    this.producers.patch(scene);
    this.consumers.patch(scene);
    this.zookeeper.patch(scene);
    this.links.patch(scene);
    if (!this.lastController && scene.facts.controller > 0) this.lastController = String(scene.facts.controller);
  }

  /** animate shows what lies between two patches; it reports whether something moves by itself. Grounded: no message is drawn. */
  animate(scene: Scene, grounded: boolean): boolean {
    let busy = false;
    for (const b of this.brokers.values()) if (b.animate(scene.time, scene.now)) busy = true;
    if (this.zookeeper.tick(scene.time, scene.now)) busy = true;
    if (this.flight.draw(scene.state, scene.time, scene.now, grounded)) busy = true;
    return busy;
  }

  /** point puts the halo of the current event where it happened. */
  point(e: Event | undefined): void {
    const card = e?.node ? this.brokers.get(e.node) : undefined;
    const next = (e?.partition ? card?.plates.get(e.partition)?.root : undefined) ?? card?.root;
    if (next === this.current) return;
    this.current?.removeAttribute("data-current");
    next?.setAttribute("data-current", "true");
    this.current = next;
  }

  /** focus puts the keyboard's focus on a broker. */
  focus(id: string): void {
    this.brokers.get(id)?.root.focus();
  }

  /** focused is the broker that has the focus, or that something within it has. */
  focused(): BrokerCard | undefined {
    for (const b of this.brokers.values()) if (b.root.contains(document.activeElement)) return b;
    return undefined;
  }

  private badges(e: Event, since: { time: number; wall: number }): void {
    const m = /^\/brokers\/topics\/(.+)\/partitions\/(\d+)\/state$/.exec(e.path ?? "");
    if (!m) return;
    for (const b of this.brokers.values()) b.plates.get(`${m[1]}-${m[2]}`)?.turned(since);
  }

  private walk(e: KeyboardEvent): void {
    const step = e.key === "ArrowRight" || e.key === "ArrowDown" ? 1 : e.key === "ArrowLeft" || e.key === "ArrowUp" ? -1 : 0;
    const card = [...this.brokers.values()].findIndex((b) => b.root === document.activeElement);
    if (!step || card < 0) return;
    const next = [...this.brokers.values()][card + step];
    if (!next) return;
    e.preventDefault();
    next.root.focus();
  }
}

/** patterns are the hatches of records above the HW, one a hue. */
function patterns(): SVGSVGElement {
  const defs = svg("defs");
  for (let i = 1; i <= 4; i++) {
    defs.append(svg("pattern", { id: `hatch-h${i}`, class: `h${i}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "hatch-ground", width: 6, height: 6 }), svg("rect", { class: "hatch-line", width: 2, height: 6 })));
  }
  return svg("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" }, defs);
}
