// The caption, the list of events, and what a screen reader is told. All three get
// the events of the story as they are shown, not as they arrive.

import { type Context, caption, isStory, rankOf, tagOf } from "./caption";
import { formatTime } from "./clock";
import { el, show, text } from "./dom";
import type { Text } from "./i18n";
import type { Model } from "./model";
import { type Event, leo } from "./state";

/** How many events of the story the list keeps. */
const KEEP = 120;
/** A caption stays at least so long if what comes after it matters less. */
const HOLD_MS = 1300;
/** While playing, a screen reader is told at most one sentence in this time. */
const SPEAK_MS = 2000;

/** While playing, the list grows at most once in this time. */
const LIST_MS = 150;

interface Told { event: Event; context: Context }

export class Narrator {
  private told: Told[] = [];
  private batch: Told[] = [];
  private shown: Told | undefined;
  private shownAt = -Infinity;
  private spokenAt = -Infinity;
  private toSay: Told | undefined;
  private dirty = false;
  private listedAt = -Infinity;

  constructor(
    private readonly caption: HTMLElement, private readonly tag: HTMLElement, private readonly list: HTMLElement,
    private readonly live: HTMLElement, private t: Text,
  ) {}

  /** current is the event that the caption is about. */
  get current(): Event | undefined {
    return this.shown?.event;
  }

  /** see takes an event before it is folded into the model: sentences tell what was before. */
  see(e: Event, before: Model, paused: boolean): void {
    if (!paused && !isStory(e)) return; // nobody will be told
    const r = before.replica(e.node, e.partition);
    const context: Context = { state: before.state, message: undefined };
    if (e.kind.startsWith("message_") && e.kind !== "message_sent") {
      const m = before.message(e.message);
      if (m) context.message = { ...m };
    }
    if (r) [context.hwBefore, context.leoBefore, context.isrBefore] = [r.hw, leo(r), r.isr];
    this.batch.push({ event: e, context });
  }

  /** settle is called after the batch has been folded. Paused says that the reader steps: then machinery is told too. */
  settle(paused: boolean, now: number): void {
    if (this.batch.length > 0) {
      const story = this.batch.filter((x) => isStory(x.event));
      // What the sentences need is kept now, while the state is that of their moment.
      for (const x of story.slice(-KEEP)) this.told.unshift(frozen(x));
      if (this.told.length > KEEP) this.told.length = KEEP;
      if (story.length > 0) this.dirty = true;
      const candidates = story.length > 0 ? story : paused ? this.batch.filter((x) => x.event.kind !== "timer_fired") : [];
      let best: Told | undefined;
      for (const x of candidates) if (!best || rankOf(x.event) >= rankOf(best.event)) best = x;
      if (best && (paused || now - this.shownAt > HOLD_MS || !this.shown || rankOf(best.event) >= rankOf(this.shown.event))) {
        this.shown = frozen(best);
        this.shownAt = now;
        this.showCaption();
      }
      if (best && (!this.toSay || rankOf(best.event) >= rankOf(this.toSay.event))) this.toSay = frozen(best);
      this.batch = [];
    }
    if (this.dirty && (paused || now - this.listedAt > LIST_MS)) {
      this.dirty = false;
      this.listedAt = now;
      this.showList();
    }
    if (this.toSay && (paused || now - this.spokenAt > SPEAK_MS)) {
      text(this.live, sentenceOf(this.toSay, this.t));
      this.spokenAt = now;
      this.toSay = undefined;
    }
  }

  /** waiting reports whether a sentence is still to be spoken or listed. */
  get waiting(): boolean {
    return this.toSay !== undefined || this.dirty;
  }

  /** restart forgets an earlier run, or what a gap has made untrue. */
  restart(): void {
    this.told = [];
    this.batch = [];
    this.shown = this.toSay = undefined;
    this.shownAt = -Infinity;
    this.list.replaceChildren();
    this.showCaption();
  }

  /** speak puts everything into another language. */
  speak(t: Text): void {
    this.t = t;
    this.showCaption();
    this.list.replaceChildren();
    this.showList();
  }

  private showCaption(): void {
    const x = this.shown;
    show(this.tag, x !== undefined);
    text(this.caption, x ? sentenceOf(x, this.t) : this.t("caption.none"));
    if (!x) return;
    text(this.tag, this.t(`tag.${tagOf(x.event)}`));
    this.tag.dataset["tag"] = tagOf(x.event);
  }

  private showList(): void {
    const first = this.list.firstElementChild as HTMLElement | null;
    const have = Number(first?.dataset["seq"] ?? -1);
    const fresh: HTMLElement[] = [];
    for (const x of this.told) {
      if (x.event.seq <= have) break;
      const tag = el("span", { class: "tag", "data-tag": tagOf(x.event) }, this.t(`tag.${tagOf(x.event)}`));
      const item = el("li", {}, el("time", {}, formatTime(x.event.time)), tag, el("span", {}, sentenceOf(x, this.t)));
      item.dataset["seq"] = String(x.event.seq);
      fresh.push(item);
    }
    this.list.prepend(...fresh);
    while (this.list.children.length > KEEP) this.list.lastElementChild!.remove();
  }
}

// What a sentence needs of the state, kept as it was, so that it can be said again in the other language.
function frozen(x: Told): Told {
  const s = x.context.state;
  const e = x.event;
  const r = s.replicas.find((y) => y.broker === e.node && y.partition === e.partition);
  return {
    event: e,
    context: {
      ...x.context,
      state: {
        ...s, messages: [], records: [], znodes: [], parked: [], links: [], partitions: [], brokers: [],
        sessions: e.session ? s.sessions.filter((y) => y.id === e.session) : [],
        producers: s.producers.filter((p) => p.node === e.node).map((p) => ({ ...p })),
        readers: s.readers.filter((p) => p.node === e.node || p.node === e.peer).map((p) => ({ ...p, read: [] })),
        replicas: r ? [{ ...r, values: [], epochs: [] }] : [],
      },
    },
  };
}

function sentenceOf(x: Told, t: Text): string {
  return caption(x.event, x.context, t);
}
