// Making and changing elements. Setters touch the document only when something
// differs, so that patching with an unchanged state costs next to nothing. Styles
// go through the object model: the content security policy allows no style attribute.

type Attributes = Record<string, string | number | boolean | undefined>;
type Child = Node | string;

/** el makes an HTML element. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  setAll(e, attributes);
  e.append(...children);
  return e;
}

const SVG = "http://www.w3.org/2000/svg";

/** svg makes an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Node[]): SVGElementTagNameMap[K] {
  const e = document.createElementNS(SVG, tag);
  setAll(e, attributes);
  e.append(...children);
  return e;
}

function setAll(e: Element, attributes: Attributes): void {
  for (const [k, v] of Object.entries(attributes)) {
    if (v === undefined || v === false) continue;
    e.setAttribute(k, v === true ? "" : String(v));
  }
}

/** set changes an attribute if it differs; undefined removes it. */
export function set(e: Element, name: string, value: string | number | undefined): void {
  if (value === undefined) {
    if (e.hasAttribute(name)) e.removeAttribute(name);
    return;
  }
  const v = String(value);
  if (e.getAttribute(name) !== v) e.setAttribute(name, v);
}

/** text changes an element's text if it differs. */
export function text(e: Element, value: string): void {
  if (e.textContent !== value) e.textContent = value;
}

/** show hides an element or not. */
export function show(e: HTMLElement, visible: boolean): void {
  if (e.hidden === visible) e.hidden = !visible;
}

/** place puts an absolutely positioned element at a rectangle. */
export function place(e: HTMLElement, r: { x: number; y: number; w: number; h: number }): void {
  e.style.left = `${r.x}px`;
  e.style.top = `${r.y}px`;
  e.style.width = `${r.w}px`;
  e.style.height = `${r.h}px`;
}

/** List keeps a row of elements in step with a list of keyed items, reusing what stays. */
export class List<T, V extends { root: Element }> {
  private views = new Map<string, V>();
  private order = "";

  constructor(
    private readonly parent: Element,
    private readonly make: (item: T) => V,
    private readonly patch: (view: V, item: T) => void,
  ) {}

  update(items: T[], key: (item: T) => string): void {
    const keys = items.map(key);
    const order = keys.join("\u0000");
    if (order !== this.order) {
      const keep = new Set(keys);
      for (const [k, v] of this.views) {
        if (keep.has(k)) continue;
        v.root.remove();
        this.views.delete(k);
      }
    }
    items.forEach((item, i) => {
      let v = this.views.get(keys[i]!);
      if (!v) this.views.set(keys[i]!, (v = this.make(item)));
      this.patch(v, item);
      if (order !== this.order && this.parent.children[i] !== v.root) this.parent.insertBefore(v.root, this.parent.children[i] ?? null);
    });
    this.order = order;
  }

  clear(): void {
    for (const v of this.views.values()) v.root.remove();
    this.views.clear();
    this.order = "";
  }
}

/** icon makes a line drawing of the given size from path data. */
export function icon(width: number, height: number, d: string, cls = ""): SVGSVGElement {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: cls }, svg("path", { d }));
}

export const ICONS = {
  power: "M7 1.3v5.4M4 3.2a5 5 0 1 0 6 0",
  start: "M3.5 2v10l8-5z",
  more: "M3 7h.01M7 7h.01M11 7h.01",
  tick: "M2.5 6.8l2.8 2.8 5-5.8",
  none: "M6.5 2.2a4.3 4.3 0 1 0 .01 0M3.5 9.5l6-6",
  cut: "M3 3l8 8M3 11l8-8",
  crown: "M1 3.5l3.7 3L8 .8l3.3 5.7 3.7-3-1.4 8H2.4z",
  server: "M3 1.5h14a1.5 1.5 0 0 1 1.5 1.5v4A1.5 1.5 0 0 1 17 8.5H3A1.5 1.5 0 0 1 1.5 7V3A1.5 1.5 0 0 1 3 1.5zM3 11.5h14a1.5 1.5 0 0 1 1.5 1.5v4a1.5 1.5 0 0 1-1.5 1.5H3A1.5 1.5 0 0 1 1.5 17v-4A1.5 1.5 0 0 1 3 11.5zM5 5h.01M5 15h.01",
  producer: "M1 7h11M8 3l4 4-4 4",
  consumer: "M13 7H2M6 3L2 7l4 4",
  zookeeper: "M7 3.5v3M7 6.5L3 10.5M7 6.5l4 4",
  play: "M2.5 1.5v9l7-4.5z",
};
