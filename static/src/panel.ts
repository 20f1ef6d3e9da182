// The panel: sending, breaking, and things to try. Every button sends a statement
// of the lab language, the same as a script would.

import { List, el, set, show, text } from "./dom";
import { ICONS, icon } from "./dom";
import { linkBetween } from "./derive";
import { canStart } from "./brokercard";
import { isBroker, isZooKeeper } from "./state";
import { type Cast, type Director, TRIES, castOf } from "./tries";
import { type Deeds, type Scene, hueOf } from "./view";

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
/** How often a stream sends, and by how much a slowed link is slower. */
const STREAM_EVERY = "200ms";
const SLOW_BY = "1000ms";

interface Action { key: string; on: boolean; danger: boolean; statements: string[] }

export class Panel {
  private producer = "";
  private broker = "1";
  private count = 1;
  private running = "";
  private scene: Scene | undefined;
  private readonly producers: List<{ node: string; partition: string }, { root: HTMLButtonElement; swatch: HTMLElement; label: HTMLElement }>;
  private readonly brokers: List<string, { root: HTMLButtonElement }>;
  private readonly actions: List<Action, { root: HTMLButtonElement; action: Action }>;
  private readonly tries: { root: HTMLButtonElement; label: HTMLElement }[];
  private zookeeper = "zookeeper";

  constructor(private readonly deeds: Deeds, private readonly director: Director) {
    this.producers = new List(by("send-producer"), (p) => {
      const [swatch, label] = [el("i", { class: "swatch" }), el("span")];
      const root = el("button", { type: "button" }, swatch, label);
      root.addEventListener("click", () => {
        this.producer = p.node;
        this.repatch();
      });
      return { root, swatch, label };
    }, (v, p) => {
      set(v.root, "class", this.scene ? hueOf(p.partition, this.scene) : "");
      text(v.label, `${p.node} → ${p.partition}`);
      set(v.root, "aria-pressed", String(p.node === this.producer));
    });
    this.brokers = new List(by("break-broker"), (id) => {
      const root = el("button", { type: "button" }, id);
      root.addEventListener("click", () => this.choose(id));
      return { root };
    }, (v, id) => {
      const b = this.scene?.state.brokers.find((x) => x.id === id);
      set(v.root, "aria-pressed", String(id === this.broker));
      set(v.root, "data-state", b?.state);
      set(v.root, "aria-label", this.scene ? `${this.scene.t("broker.name", { id })}, ${this.scene.t(`process.${b?.state ?? "up"}`)}` : id);
    });
    this.actions = new List(by("break-actions"), (a) => {
      const v = { root: el("button", { type: "button", class: "button" }), action: a };
      v.root.addEventListener("click", () => {
        for (const s of v.action.statements) deeds.statement(s);
      });
      return v;
    }, (v, a) => {
      v.action = a;
      set(v.root, "class", `button ${a.danger ? "danger" : ""}`);
      set(v.root, "aria-pressed", a.on ? "true" : undefined);
      text(v.root, this.scene!.t(a.key));
      set(v.root, "title", this.scene!.t(`${a.key}.hint`, { id: this.broker }));
    });
    this.tries = TRIES.map((t) => {
      const label = el("span");
      const root = el("button", { type: "button", class: "button try" }, icon(11, 12, ICONS.play), label);
      root.addEventListener("click", () => void this.attempt(t.key));
      by("tries").append(root);
      return { root, label };
    });
    for (const b of by("send-acks").querySelectorAll("button")) {
      b.addEventListener("click", () => deeds.statement(`set ${this.producer} acks ${b.dataset["acks"]}`));
    }
    for (const b of by("send-count").querySelectorAll("button")) {
      b.addEventListener("click", () => {
        this.count = Number(b.dataset["count"]);
        this.repatch();
      });
    }
    by("send").addEventListener("click", () => deeds.statement(`send ${this.producer} ${this.count}`));
    by("stream").addEventListener("click", () => {
      const p = this.scene?.state.producers.find((x) => x.node === this.producer);
      deeds.statement(p && p.every > 0 ? `stop stream ${this.producer}` : `stream ${this.producer} every ${STREAM_EVERY}`);
    });
    by("restore").addEventListener("click", () => this.restore());
  }

  /** chosen is the broker that the faults are about. */
  get chosen(): string {
    return this.broker;
  }

  /** choose shows the faults of a broker. */
  choose(id: string): void {
    this.broker = id;
    this.repatch();
  }

  /** answer shows why something could not be done; empty clears it. */
  answer(message: string): void {
    text(by("answer"), message);
  }

  patch(scene: Scene): void {
    this.scene = scene;
    const { state, t } = scene;
    if (!state.producers.some((p) => p.node === this.producer)) this.producer = state.producers[0]?.node ?? "";
    if (!state.brokers.some((b) => b.id === this.broker)) this.broker = state.brokers[0]?.id ?? "1";
    this.zookeeper = state.links.map((l) => [l.from, l.to]).flat().find(isZooKeeper) ?? "zookeeper";
    this.producers.update(state.producers, (p) => p.node);
    this.brokers.update(state.brokers.map((b) => b.id), (id) => id);
    const p = state.producers.find((x) => x.node === this.producer);
    for (const b of by("send-acks").querySelectorAll("button")) {
      set(b, "aria-pressed", String(p !== undefined && b.dataset["acks"] === (p.acks === -1 ? "all" : String(p.acks))));
    }
    for (const b of by("send-count").querySelectorAll("button")) set(b, "aria-pressed", String(Number(b.dataset["count"]) === this.count));
    text(by("send"), t("send.button.count", { count: this.count }));
    set(by("stream"), "aria-pressed", String(p !== undefined && p.every > 0));
    this.actions.update(this.actionsOf(scene), (a) => a.key);
    const cast = castOf(state, this.producer, scene.facts);
    TRIES.forEach((x, i) => {
      const v = this.tries[i]!;
      const can = cast !== undefined && x.possible(cast);
      text(v.label, t(x.key, cast ? x.params(cast) : {}).replace(/\{\w+\}|-1/g, "…"));
      v.root.disabled = !can || (this.running !== "" && this.running !== x.key);
      set(v.root, "data-running", this.running === x.key ? "true" : undefined);
    });
    show(by("restore"), this.amiss(scene).length > 0);
  }

  private repatch(): void {
    if (this.scene) this.patch(this.scene);
  }

  private async attempt(key: string): Promise<void> {
    const t = TRIES.find((x) => x.key === key)!;
    const cast: Cast | undefined = castOf(this.director.state(), this.producer); // as it is, not as it is shown
    if (!cast || this.running) return;
    this.running = key;
    this.repatch();
    try {
      await t.run(this.director, cast);
    } finally {
      this.running = "";
      this.repatch();
    }
  }

  private actionsOf(scene: Scene): Action[] {
    const { state } = scene;
    const id = this.broker;
    const b = state.brokers.find((x) => x.id === id);
    if (!b) return [];
    const others = state.brokers.filter((x) => x.id !== id).map((x) => x.id);
    const zk = linkBetween(state, id, this.zookeeper);
    const cutOff = others.length > 0 && others.every((o) => linkBetween(state, id, o).cut === 3) && zk.cut === 3;
    const slowed = state.links.some((l) => l.slow > 0 && (l.from === id || l.to === id) && (isBroker(l.from) && isBroker(l.to)));
    const links: Action[] = [
      { key: "fault.cut", on: zk.cut > 0, danger: false, statements: [`${zk.cut > 0 ? "heal" : "cut"} ${id} - zookeeper`] },
      { key: "fault.isolate", on: cutOff, danger: false, statements: cutOff ? [...others, "zookeeper"].map((o) => `heal ${id} - ${o}`) : [`isolate ${id}`] },
      { key: "fault.slow", on: slowed, danger: false, statements: others.map((o) => `slow ${id} - ${o} by ${slowed ? "0ms" : SLOW_BY}`) },
      { key: "fault.hold", on: b.fetchesHeld, danger: false, statements: [`${b.fetchesHeld ? "release" : "hold"} fetches of ${id}`] },
    ];
    if (canStart(scene, id)) {
      return [
        { key: "fault.start", on: false, danger: false, statements: [`start broker ${id}`] },
        { key: "fault.wipe", on: false, danger: true, statements: [`wipe ${id}`] },
        ...links,
      ];
    }
    return [
      { key: "fault.stop", on: false, danger: true, statements: [`stop broker ${id}`] },
      { key: "fault.shutdown", on: false, danger: false, statements: [`shut down broker ${id}`] },
      { key: "fault.power", on: false, danger: true, statements: [`power off ${id}`] },
      { key: "fault.freeze", on: b.state === "frozen", danger: false, statements: [`${b.state === "frozen" ? "thaw" : "freeze"} broker ${id}`] },
      ...links,
      { key: "fault.expire", on: false, danger: false, statements: [`expire session of ${id}`] },
      { key: "fault.flush", on: false, danger: false, statements: [`flush broker ${id}`] },
    ];
  }

  // Statements that put everything right that a person can have put wrong.
  private amiss(scene: Scene): string[] {
    const { state } = scene;
    const l: string[] = [];
    const ids = (which: (id: string) => boolean) => state.brokers.filter((b) => which(b.id)).map((b) => b.id).join(" ");
    const find = (id: string) => state.brokers.find((b) => b.id === id)!;
    if (state.links.some((x) => x.cut)) l.push("heal");
    const pairs = new Set<string>();
    for (const x of state.links) {
      if (x.held) l.push(`release ${x.from} -> ${x.to}`);
      if (x.slow > 0 && !pairs.has(`${x.to} ${x.from}`)) {
        pairs.add(`${x.from} ${x.to}`);
        l.push(`slow ${x.from} - ${x.to} by 0ms`);
      }
    }
    const held = ids((id) => find(id).fetchesHeld);
    if (held) l.push(`release fetches of ${held}`);
    const control = ids((id) => find(id).controlHeld);
    if (control) l.push(`release control to ${control}`);
    for (const b of state.brokers) if (b.diskSlow > 0) l.push(`slow disk of ${b.id} by 0ms`);
    const frozen = ids((id) => find(id).state === "frozen");
    if (frozen) l.push(`thaw broker ${frozen}`);
    const stopped = ids((id) => find(id).state === "down" || find(id).state === "off");
    if (stopped) l.push(`start broker ${stopped}`);
    return l;
  }

  private restore(): void {
    if (!this.scene) return;
    for (const s of this.amiss({ ...this.scene, state: this.director.state() })) this.deeds.statement(s);
  }
}
