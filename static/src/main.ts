// Wires the page together: the socket's events go into the model at once, and into
// what is shown when their moment comes.

import { Clock, SPEEDS, formatSpeed, formatTime, nearestSpeed } from "./clock";
import { Deriver, type Facts, silent } from "./derive";
import { el, set, show, text } from "./dom";
import { type Lang, relabel, tagOf, textIn } from "./i18n";
import { KEYS, listen } from "./keys";
import { Layout } from "./layout";
import { drawLegend } from "./legend";
import { Model, emptySnapshot } from "./model";
import { Narrator } from "./narrator";
import { Panel } from "./panel";
import { Stage } from "./stage";
import type { Event, Micros, Snapshot } from "./state";
import * as theme from "./theme";
import { type Connection, type Hello, type Status, Transport } from "./transport";
import type { Director } from "./tries";
import type { Scene } from "./view";

const by = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const app = by("app");
const region = by("stage-region");

/** More events than this waiting to be shown (a hidden page) are folded at once, without their motion. */
const BACKLOG = 20_000;
// Of the release lines the first ones are buttons, the others a list.
const FEATURED_LINES = 2;
/** Events that change nothing on the stage but the messages, which are drawn for every frame anyway. */
const UNSEEN = new Set(["message_sent", "message_delivered", "message_held", "message_released", "timer_fired", "process_started", "connection_closed",
  "watch_fired", "isr_update_sent", "read_nothing", "high_watermark_checkpointed", "statement_executed"]);
/** Countdowns are redrawn this often while nothing else changes, in ms. */
const TICK_MS = 100;

/** From this speed on nothing settles and the stage changes at most 20 times a second; */
const FAST = 4;
/** from this one on no message is seen flying either, and the stage changes 10 times a second. */
const NO_FLIGHT = 10;

let lang: Lang = document.documentElement.dataset["lang"] === "zh" ? "zh" : "en";
let t = textIn(lang);

let latest = new Model(emptySnapshot());
let shown = new Model(emptySnapshot());
let queue: Event[] = [];
let head = 0;
let run = 0;
let hello: Hello | undefined;
let status: Status = { playing: false, speed: 1 / 12, time: 0, seq: 0, failed: "", full: false };
let wanted = nearestSpeed(status.speed); // place in SPEEDS
let connection: Connection = "connecting";
let layout: Layout | undefined;
let layoutKey = "";
let facts: Facts | undefined;
let dirty = true;
let patchedAt = 0;
let awake = false;
const clock = new Clock();
const deriver = new Deriver();
const costs: number[] = [];
const waits: { condition: (s: Snapshot) => boolean; done: (ok: boolean) => void }[] = [];

const narrator = new Narrator(by("caption-text"), by("caption-tag"), by("events"), by("live"), t);
const deeds = {
  statement(statement: string): void {
    void perform(statement);
  },
  look(broker: string): void {
    panel.choose(broker);
  },
  choose(broker: string): void {
    openPanel(true);
    panel.choose(broker);
    reveal(by("break"));
    by("break-actions").querySelector("button")?.focus();
  },
};
const stage = new Stage(by("stage"), deeds);
const director: Director = {
  do: perform,
  play() {
    if (!status.playing) void transport.request("play");
  },
  until(condition) {
    if (condition(latest.state)) return Promise.resolve(true);
    return new Promise((done) => waits.push({ condition, done }));
  },
  state: () => latest.state,
};
const panel = new Panel(deeds, director);

const transport = new Transport(app.dataset["socket"]!, {
  connection(state) {
    connection = state;
    showConnection();
    wake();
  },
  hello(h) {
    hello = h;
    if (h.run !== run) {
      run = h.run;
      narrator.restart();
      stage.restart();
      for (const w of waits.splice(0)) w.done(false);
    }
    showKafkas();
  },
  snapshot(s, st, reason) {
    latest = new Model(s);
    shown = new Model(structuredClone(s));
    queue = [];
    head = 0;
    clock.jump(s.time, performance.now());
    takeStatus(st);
    if (reason === "behind") narrator.restart();
    dirty = true;
    wake();
  },
  events(events, time) {
    for (const e of events) {
      latest.apply(e);
      queue.push(e);
    }
    clock.hear(time, performance.now());
    if (queue.length - head > BACKLOG) {
      while (head < queue.length) shown.apply(queue[head++]!);
      clock.jump(time, performance.now());
      dirty = true;
    }
    for (let i = waits.length - 1; i >= 0; i--) {
      if (events.length > 0 && waits[i]!.condition(latest.state)) waits.splice(i, 1)[0]!.done(true);
    }
    wake();
  },
  status(s) {
    takeStatus(s);
    wake();
  },
});

async function perform(statement: string): Promise<boolean> {
  const r = await transport.request("do", { statement });
  panel.answer(r.error ? r.error.message : "");
  return !r.error;
}

function takeStatus(s: Status): void {
  status = s;
  wanted = nearestSpeed(s.speed);
  clock.set(s.playing, s.speed);
  if (s.time > clock.horizon) clock.hear(s.time, performance.now());
  showTransport();
  showConnection();
}

// ---- one frame ----

function wake(): void {
  if (awake) return;
  awake = true;
  clock.wake(performance.now());
  requestAnimationFrame(frame);
}

function frame(now: number): void {
  const began = performance.now();
  const time = clock.advance(now);
  while (head < queue.length && queue[head]!.time <= time) {
    const e = queue[head++]!;
    narrator.see(e, shown, !clock.playing);
    if (!fast()) stage.note(e, shown, time, now);
    const session = e.kind === "message_delivered" ? shown.message(e.message)?.session : undefined;
    shown.apply(e);
    if (!UNSEEN.has(e.kind) || session) dirty = true;
  }
  if (head > 1024) {
    queue = queue.slice(head);
    head = 0;
  }
  const quiet = !clock.playing && !clock.behind;
  const counting = !dirty && now - patchedAt > TICK_MS && shown.state.sessions.some((s) => silent(s, time));
  if ((dirty || counting) && now - patchedAt >= patchEvery()) patch(time, now);
  let busy = dirty;
  if (layout && facts && stage.animate(sceneAt(time, now), clock.playing && clock.speed >= NO_FLIGHT)) busy = true;
  narrator.settle(!clock.playing, now);
  stage.point(clock.playing ? undefined : narrator.current);
  text(by("time"), formatTime(time));
  text(by("seq"), t("transport.seq", { seq: shown.state.seq }));
  costs.push(performance.now() - began);
  if (costs.length > 240) costs.shift();
  // Nothing moves and nothing is to come: no further frame until something happens.
  if (quiet && !busy && !narrator.waiting && head >= queue.length) {
    awake = false;
    return;
  }
  if (connection !== "open" && !clock.behind && !busy) {
    awake = false;
    return;
  }
  requestAnimationFrame(frame);
}

/** fast reports whether time runs too fast for effects to be seen. */
function fast(): boolean {
  return clock.playing && clock.speed >= FAST;
}

/** patchEvery is how long, in ms, the stage stays as it is at least. */
function patchEvery(): number {
  if (!clock.playing || clock.speed < FAST) return 0;
  return clock.speed >= NO_FLIGHT ? 100 : 50;
}

function sceneAt(time: Micros, now: number): Scene {
  return { state: shown.state, facts: facts!, layout: layout!, t, time, now };
}

function patch(time: Micros, now: number): void {
  dirty = false;
  patchedAt = now;
  if (shown.state.brokers.length === 0) return;
  facts = deriver.derive(shown.state);
  const fresh = arrange();
  const scene = sceneAt(time, now);
  if (fresh) stage.resize(scene);
  stage.patch(scene);
  panel.patch(scene);
}

/** arrange makes a new layout if the size of the stage or the shape of the cluster has changed. */
function arrange(): boolean {
  const s = shown.state;
  const flowing = matchMedia("(max-width: 980px)").matches;
  const shape = {
    width: region.clientWidth, height: flowing ? 0 : region.clientHeight,
    unit: parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
    brokers: s.brokers.map((b) => b.id), partitions: s.partitions,
    producers: s.producers.map((p) => p.node), readers: s.readers.map((r) => r.node),
  };
  const key = JSON.stringify([shape, window.devicePixelRatio]);
  if (key === layoutKey) return false;
  layoutKey = key;
  layout = new Layout(shape);
  return true;
}

function refresh(): void {
  dirty = true;
  wake();
}

// ---- what surrounds the stage ----

function showTransport(): void {
  const play = by("play");
  play.dataset["playing"] = String(status.playing);
  set(play, "aria-label", t(status.playing ? "transport.pause" : "transport.play"));
  set(play, "title", t(status.playing ? "transport.pause" : "transport.play"));
  const place = nearestSpeed(status.speed);
  const range = by<HTMLInputElement>("speed");
  if (document.activeElement !== range) range.value = String(place);
  set(range, "aria-valuetext", formatSpeed(status.speed));
  text(by("speed-text"), formatSpeed(status.speed));
  const banner = by("banner");
  if (status.failed) {
    banner.dataset["tone"] = "bad";
    banner.replaceChildren(el("span", {}, t("banner.failed", { message: status.failed })), again(), recording());
    show(banner, true);
  } else if (status.full) {
    delete banner.dataset["tone"];
    banner.replaceChildren(el("span", {}, t("banner.full")), again());
    show(banner, true);
  } else if (connection !== "closed") show(banner, false);
}

// What is needed to make the run happen again.
function recording(): HTMLElement {
  return el("a", { class: "button", href: `${location.pathname}/recording`, download: true }, t("banner.recording"));
}

function again(): HTMLElement {
  const b = el("button", { type: "button", class: "button" }, t("banner.again"));
  b.addEventListener("click", () => void transport.request("restart", { kafka: latest.state.kafka }));
  return b;
}

function showConnection(): void {
  const state = connection === "open" ? (status.playing ? "live" : "paused") : connection === "connecting" ? "connecting" : "lost";
  by("conn").dataset["state"] = state;
  text(by("conn-text"), t(connection === "closed" ? "conn.closed" : `conn.${state}`));
  if (connection !== "closed") return;
  const banner = by("banner");
  banner.dataset["tone"] = "bad";
  banner.replaceChildren(el("span", {}, t("banner.gone")), el("a", { class: "button", href: "/" }, t("gone.link")));
  show(banner, true);
}

function showKafkas(): void {
  if (!hello) return;
  const h = hello;
  const restart = (line: string): void => {
    if (line !== hello?.kafka) void transport.request("restart", { kafka: line });
  };
  const buttons = h.kafkas.slice(0, FEATURED_LINES).map((line, i) => {
    const b = el("button", { type: "button", "aria-pressed": String(line === h.kafka), title: t("kafka.hint", { line }) }, i === 0 ? `kafka ${line}` : line);
    b.addEventListener("click", () => restart(line));
    return b;
  });
  const others = h.kafkas.slice(FEATURED_LINES);
  const rest = el("select", { "aria-label": t("kafka.others"), title: t("kafka.others"), "data-on": String(others.includes(h.kafka)) },
    el("option", { value: "" }, "…"), ...others.map((line) => el("option", { value: line }, line)));
  rest.value = others.includes(h.kafka) ? h.kafka : "";
  rest.addEventListener("change", () => rest.value ? restart(rest.value) : (rest.value = others.includes(h.kafka) ? h.kafka : ""));
  by("kafkas").replaceChildren(...buttons, ...(others.length ? [rest] : []));
}

// Two quick presses are two steps, also before the server has answered the first.
function speed(change: number): void {
  wanted = Math.min(Math.max(wanted + change, 0), SPEEDS.length - 1);
  void transport.request("speed", { speed: SPEEDS[wanted] });
}

function openPanel(open: boolean): void {
  app.dataset["panel"] = open ? "open" : "closed";
  set(by("panel-button"), "aria-expanded", String(open));
  refresh();
}

/** reveal scrolls to a section of the panel: within the panel, or the page where the panel is part of its flow. */
function reveal(section: HTMLElement): void {
  const p = by("panel");
  if (matchMedia("(max-width: 980px)").matches) section.scrollIntoView({ block: "start" });
  else p.scrollTop += section.getBoundingClientRect().top - p.getBoundingClientRect().top - 10;
}

function help(open: boolean): void {
  if (open) openPanel(true);
  show(by("help"), open);
  set(by("help-button"), "aria-expanded", String(open));
  if (open) reveal(by("help"));
}

function speak(next: Lang): void {
  lang = next;
  t = textIn(lang);
  document.documentElement.lang = tagOf(lang);
  document.documentElement.dataset["lang"] = lang;
  document.title = `${t("app.name")} · ${t("app.tagline")}`;
  relabel(document, t);
  for (const b of by("langs").querySelectorAll<HTMLElement>("button")) set(b, "aria-pressed", String(b.dataset["lang"] === lang));
  by("keys").replaceChildren(...KEYS.flatMap(([keys, key]) => [
    el("dt", {}, ...keys.flatMap((k, i) => [i > 0 ? " " : "", k === "…" ? k : el("kbd", {}, k)])), el("dd", {}, t(key)),
  ]));
  drawLegend(by("legend-list"), t);
  narrator.speak(t);
  showTransport();
  showConnection();
  showKafkas();
  refresh();
}

function remember(next: Lang): void {
  document.cookie = `lang=${next}; path=/; max-age=31536000; samesite=lax`;
  const url = new URL(location.href);
  if (url.searchParams.has("lang")) {
    url.searchParams.delete("lang");
    history.replaceState(null, "", url);
  }
}

function showTheme(): void {
  for (const b of by("themes").querySelectorAll<HTMLElement>("button")) set(b, "aria-pressed", String(b.dataset["themeChoice"] === theme.chosen()));
}

function recolour(): void {
  stage.flight.recolour();
  refresh();
}

by("play").addEventListener("click", () => void transport.request(status.playing ? "pause" : "play"));
by("step").addEventListener("click", () => void transport.request("step"));
by("story").addEventListener("click", () => void transport.request("step", { until: "story" }));
by("slower").addEventListener("click", () => speed(-1));
by("faster").addEventListener("click", () => speed(1));
by<HTMLInputElement>("speed").addEventListener("input", (e) => {
  wanted = Number((e.target as HTMLInputElement).value);
  void transport.request("speed", { speed: SPEEDS[wanted] });
});
by("help-button").addEventListener("click", () => help(by("help").hidden));
by("panel-button").addEventListener("click", () => openPanel(app.dataset["panel"] === "closed"));
for (const b of by("langs").querySelectorAll<HTMLElement>("button")) {
  b.addEventListener("click", () => {
    remember(b.dataset["lang"] as Lang);
    speak(b.dataset["lang"] as Lang);
  });
}
for (const b of by("themes").querySelectorAll<HTMLElement>("button")) {
  b.addEventListener("click", () => {
    theme.choose(b.dataset["themeChoice"] as theme.Theme);
    showTheme();
    recolour();
  });
}
listen({
  playPause: () => by("play").click(),
  step: () => by("step").click(),
  story: () => by("story").click(),
  slower: () => speed(-1),
  faster: () => speed(1),
  focus(place) {
    const id = [...stage.brokers.keys()].find((k) => Number(k) === place);
    if (id) stage.focus(id);
  },
  kill() {
    (stage.focused() ?? stage.brokers.get(panel.chosen))?.toggle();
  },
  help: () => help(by("help").hidden),
});

new ResizeObserver(refresh).observe(region);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const reduce = () => {
  stage.flight.reduced = still.matches;
  refresh();
};
still.addEventListener("change", reduce);
const sharpness = () => {
  matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", () => {
    sharpness();
    refresh();
  }, { once: true });
};
sharpness();
void document.fonts?.ready.then(recolour);

showTheme();
speak(lang);
reduce();
transport.connect();

/** For tests and benchmarks: what the page knows. */
Object.assign(window, {
  __tidemark: {
    state: () => latest.state,
    shown: () => shown.state,
    seq: () => latest.state.seq,
    time: () => clock.shown,
    awake: () => awake,
    forgetCosts: () => {
      costs.length = 0;
    },
    frameCost: () => {
      const l = [...costs].sort((a, b) => a - b);
      return { frames: l.length, median: l[l.length >> 1] ?? 0, p95: l[Math.floor(l.length * 0.95)] ?? 0 };
    },
  },
});
