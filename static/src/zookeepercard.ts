// ZooKeeper on the stage: the znodes that matter to replication, and how long each
// session still lives if its owner stays silent.

import { type PartitionFacts, remaining, silent } from "./derive";
import { ICONS, List, el, icon, place, set, text } from "./dom";
import * as ease from "./ease";
import { seconds } from "./brokercard";
import type { Micros } from "./state";
import { type Scene, hueOf } from "./view";

interface IdChip { root: HTMLElement; id: HTMLElement; left: HTMLElement; bar: HTMLElement }
interface StateRow { root: HTMLElement; name: HTMLElement; leader: HTMLElement; epoch: HTMLElement; isr: HTMLElement }
interface Session { id: number; session: number; node: string; heard: Micros; timeout: Micros; registered: boolean }

export class ZooKeeperCard {
  readonly root: HTMLElement;
  private readonly name = el("h2", { class: "card-name" });
  private readonly note = el("span", { class: "card-note" });
  private readonly controller = el("span", { class: "znode eph" });
  private readonly epoch = el("span", { class: "znode" });
  private readonly ids: List<Session, IdChip>;
  private readonly states: List<PartitionFacts, StateRow>;
  private readonly changed = new Map<string, { time: number; wall: number }>();
  private readonly marked = new Map<string, HTMLElement>();
  private readonly paths: HTMLElement;
  private scene!: Scene;

  constructor() {
    const ids = el("span", { class: "znodes" });
    const states = el("ul", { class: "zk-states" });
    this.paths = el("span", { class: "zk-path" });
    this.root = el("section", { class: "card zookeeper" },
      el("div", { class: "card-title" }, icon(14, 14, ICONS.zookeeper), this.name, this.note),
      el("div", { class: "zk" },
        el("div", { class: "zk-left" },
          el("span", { class: "zk-path" }, "/controller"), this.controller,
          el("span", { class: "zk-path" }, "/controller_epoch"), this.epoch,
          el("span", { class: "zk-path" }, "/brokers/ids"), ids),
        el("div", { class: "zk-right" }, this.paths, states)));
    this.ids = new List<Session, IdChip>(ids, () => {
      const [id, left, bar] = [el("b"), el("span", { class: "left" }), el("i")];
      return { root: el("span", { class: "znode eph id" }, id, left, bar), id, left, bar };
    }, (v, s) => this.patchId(v, s));
    this.states = new List<PartitionFacts, StateRow>(states, () => {
      const [name, leader, epoch, isr] = [el("span", { class: "zk-name" }), el("span", { class: "znode" }), el("span", { class: "znode" }), el("span", { class: "znode" })];
      return { root: el("li", {}, name, leader, epoch, isr), name, leader, epoch, isr };
    }, (v, p) => this.patchState(v, p));
  }

  /** touched marks a znode that an event has just changed. */
  touched(path: string, since: { time: number; wall: number }): void {
    this.changed.set(path, since);
  }

  patch(scene: Scene): void {
    this.scene = scene;
    const { t, state, facts } = scene;
    place(this.root, scene.layout.zookeeper);
    text(this.name, "ZooKeeper");
    set(this.root, "aria-label", "ZooKeeper");
    text(this.note, t("zk.note"));
    text(this.controller, facts.controller < 0 ? t("zk.nobody") : t("broker.short", { id: facts.controller }));
    set(this.controller, "data-gone", facts.controller < 0 ? "true" : undefined);
    text(this.epoch, facts.controllerEpoch < 0 ? "–" : String(facts.controllerEpoch));
    this.mark("/controller", this.controller);
    this.mark("/controller_epoch", this.epoch);
    const sessions: Session[] = facts.registered.map((r) => {
      const s = state.sessions.find((x) => x.id === r.session);
      return { id: r.id, session: r.session, node: String(r.id), heard: s?.heard ?? 0, timeout: s?.timeout ?? 0, registered: true };
    });
    this.ids.update(sessions, (s) => String(s.id));
    const topics = [...new Set(state.partitions.map((p) => p.name.replace(/-\d+$/, "")))];
    text(this.paths, topics.length === 1 ? `/brokers/topics/${topics[0]}/partitions` : "/brokers/topics/*/partitions");
    this.states.update([...facts.partitions.values()], (p) => p.name);
  }

  /** tick moves the countdowns. */
  tick(time: Micros, now: number): boolean {
    let busy = false;
    for (const [path, since] of this.changed) {
      const u = ease.progress(since, time, now, 1400);
      const e = this.marked.get(path);
      if (e) set(e, "data-hot", u < 1 ? "true" : undefined);
      if (u < 1) busy = true;
      else this.changed.delete(path);
    }
    return busy;
  }

  private mark(path: string, e: HTMLElement): void {
    this.marked.set(path, e);
  }

  private patchId(v: IdChip, s: Session): void {
    const { t, time } = this.scene;
    text(v.id, String(s.id));
    const left = remaining({ id: s.session, node: s.node, timeout: s.timeout, heard: s.heard }, time);
    const quiet = s.timeout > 0 && silent({ id: s.session, node: s.node, timeout: s.timeout, heard: s.heard }, time);
    set(v.root, "data-silent", quiet ? "true" : undefined);
    text(v.left, quiet ? ` ${seconds(left)} s` : "");
    v.bar.style.transform = `scaleX(${s.timeout > 0 ? Math.round((left / s.timeout) * 100) / 100 : 0})`;
    set(v.root, "title", t(quiet ? "zk.session.silent" : "zk.session", { id: s.id, seconds: seconds(left), timeout: s.timeout / 1_000_000 }));
    this.mark(`/brokers/ids/${s.id}`, v.root);
  }

  private patchState(v: StateRow, p: PartitionFacts): void {
    const { t } = this.scene;
    set(v.root, "class", hueOf(p.name, this.scene));
    const multi = new Set([...this.scene.state.partitions].map((x) => x.name.replace(/-\d+$/, ""))).size > 1;
    text(v.name, multi ? p.name : `${p.name.replace(/^.*-/, "")}/state`);
    text(v.leader, p.epoch < 0 ? t("zk.none") : p.leader < 0 ? t("zk.leaderless") : `leader ${p.leader}`);
    set(v.leader, "data-gone", p.epoch >= 0 && p.leader < 0 ? "true" : undefined);
    text(v.epoch, p.epoch < 0 ? "" : `e${p.epoch}`);
    text(v.isr, p.epoch < 0 ? "" : `ISR ${p.isr.join(",")}`);
    set(v.isr, "data-short", p.isr.length < p.replicas.length ? "true" : undefined);
    set(v.root, "title", t("zk.state", { partition: p.name, leader: p.leader < 0 ? t("zk.nobody") : p.leader, epoch: p.epoch, isr: p.isr.join(", "), version: p.znodeVersion }));
    const m = /^(.*)-(\d+)$/.exec(p.name);
    if (m) this.mark(`/brokers/topics/${m[1]}/partitions/${m[2]}/state`, v.root);
  }
}
