// Links that are not as they should be, drawn where their messages would fly.

import { faultyPairs, linkBetween } from "./derive";
import { set, svg } from "./dom";
import type { Scene } from "./view";

export class Links {
  readonly root = svg("svg", { class: "links", "aria-hidden": "true" });
  private key = "";

  patch(scene: Scene): void {
    const { layout, state } = scene;
    const pairs = faultyPairs(state).map(([a, b]) => ({ a, b, ...linkBetween(state, a, b) }));
    const key = JSON.stringify([pairs, layout.width, layout.height]);
    if (key === this.key) return;
    this.key = key;
    set(this.root, "width", layout.width);
    set(this.root, "height", layout.height);
    this.root.replaceChildren();
    const u = layout.unit;
    for (const p of pairs) {
      const path = layout.path(p.a, p.b, "", false);
      let d = "";
      for (let i = 0; i < path.xs.length; i++) d += `${i === 0 ? "M" : "L"}${path.xs[i]!.toFixed(1)} ${path.ys[i]!.toFixed(1)}`;
      const cls = p.cut ? "cut" : p.held ? "held" : p.slow > 0 ? "slow" : "drop";
      const m = path.at(0.5);
      const g = svg("g", { class: `fault ${cls}` }, svg("path", { d }), svg("circle", { cx: m.x, cy: m.y, r: 9 * u }));
      const sign = { cut: "M-4 -4l8 8M-4 4l8 -8", held: "M-2.5 -4v8M2.5 -4v8", slow: "M0 -4v4l3 2", drop: "M0 -4v8M-3 1l3 3l3 -3" }[cls];
      g.append(svg("path", { class: "sign", d: sign, transform: `translate(${m.x} ${m.y}) scale(${u})` }));
      this.root.append(g);
    }
  }
}
