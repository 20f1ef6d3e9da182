// What the marks mean: drawn with the same classes as on the stage, so that they
// are the same marks in both themes.

import { el, svg } from "./dom";
import type { Text } from "./i18n";

type Draw = (g: SVGGElement) => void;

const cell = (cls: string, number = "", extra?: Draw): Draw => (g) => {
  const n = svg("text", { class: "number", x: 9, y: 15 });
  n.textContent = number;
  const c = svg("g", { class: `cell h1 ${cls}` }, svg("rect", { class: "box", x: 0.6, y: 0.6, width: 16.8, height: 20.8, rx: 3.2 }), n);
  extra?.(c);
  // The hue's class has to be above the cell for the hatch.
  g.append(svg("g", { class: "h1" }, c));
};
const mark = (d: string): Draw => (g) => g.append(svg("path", { class: "mark", d, transform: "translate(9 11) scale(.85)" }));
const path = (cls: string, d: string): Draw => (g) => g.append(svg("path", { class: cls, d }));
const label = (words: string, cls: string, x = 14): Draw => (g) => {
  const e = svg("text", { x, y: 15, class: cls });
  e.textContent = words;
  g.append(e);
};

const ITEMS: [string, Draw[]][] = [
  ["committed", [cell("committed", "4")]],
  ["pending", [cell("pending", "8")]],
  ["cache", [path("flush cache", "M3 11h.01M9 11h.01M15 11h.01")]],
  ["disk", [path("flush disk", "M0 11h18")]],
  ["truncated", [(g) => g.append(svg("g", { class: "cell ghost" }, svg("rect", { x: 0.7, y: 0.7, width: 16.6, height: 20.6, rx: 3 }), svg("path", { d: "M4 18L14 4" })))]],
  ["diverged", [cell("diverged", "", mark("M-4.5 -2.5h9M-4.5 2.5h9M3 -7L-3 7"))]],
  ["lost", [cell("lost", "", mark("M-4 -4l8 8M4 -4l-8 8"))]],
  ["epoch", [cell("committed banded tint1", "", (c) => {
    c.append(svg("rect", { class: "band", x: 0.6, y: 0.6, width: 16.8, height: 10, rx: 3 }));
    const e = svg("text", { class: "epoch", x: 9, y: 8.6 });
    e.textContent = "e1";
    c.append(e);
  })]],
  ["hw", [path("hw-flag", "M3 1h24v14h-24z"), path("hw-line", "M4 1v21"), label("HW", "hw-words", 15)]],
  ["bead", [(g) => g.append(svg("g", { class: "bead h1", transform: "translate(9 11)" }, svg("circle", { r: 7.5 }), svgText("2", 0, 3.8)))]],
  ["produce", [path("m-data", "M5 1h14q4 0 4 4v12q0 4-4 4H5q-4 0-4-4V5q0-4 4-4z"), label("P7", "m-on", 12)]],
  ["fetch", [path("m-ask", "M2 4h13l7 7-7 7H2z")]],
  ["answer", [path("m-data", "M4 1h20q3 0 3 3v14q0 3-3 3H4q-3 0-3-3V4q0-3 3-3z"), label("7–9", "m-on", 14)]],
  ["ack", [path("m-ack", "M11 1.5a9.5 9.5 0 1 0 .01 0z"), path("m-tick", "M6.8 11.2l2.8 3.1 5.5-6.1")]],
  ["control", [path("m-ctl", "M11 2.5l8.5 8.5-8.5 8.5L2.5 11z")]],
  ["ephemeral", [path("m-eph", "M1.5 4h24v14h-24z")]],
];

function svgText(words: string, x: number, y: number): SVGTextElement {
  const e = svg("text", { x, y });
  e.textContent = words;
  return e;
}

/** drawLegend fills the list. */
export function drawLegend(list: HTMLElement, t: Text): void {
  list.replaceChildren(...ITEMS.map(([key, draws]) => {
    const g = svg("g");
    for (const d of draws) d(g);
    return el("li", {}, svg("svg", { class: "log-legend log", width: 28, height: 22, viewBox: "0 0 28 22", "aria-hidden": "true" }, g), el("span", {}, t(`legend.${key}`)));
  }));
}
