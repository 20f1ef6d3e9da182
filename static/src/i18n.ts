// The texts of the page, in the reader's language. The catalogues are flat: a key,
// a text, and {placeholders} in it. The server renders the page with the same files.

import en from "./i18n/en.json";
import zh from "./i18n/zh.json";

export type Lang = "en" | "zh";
export type Params = Record<string, string | number>;
export type Text = (key: string, params?: Params) => string;

const catalogues: Record<Lang, Record<string, string>> = { en, zh };

/** textIn is the lookup in one language. A key without a text comes back in brackets. */
export function textIn(lang: Lang): Text {
  const catalogue = catalogues[lang];
  return (key, params) => {
    const template = catalogue[key];
    if (template === undefined) return `[${key}]`;
    return params ? join(lang, fill(template, params)) : template;
  };
}

// In Chinese a space stands between Chinese and Latin letters only. A parameter may turn
// out to begin or end with either, so spaces between two Chinese ones are taken out.
const CHINESE = "[\\u3000-\\u303f\\u4e00-\\u9fff\\uff00-\\uffef]";
const STRAY = new RegExp(`(?<=${CHINESE}) (?=${CHINESE})`, "g");

function join(lang: Lang, text: string): string {
  return lang === "zh" ? text.replace(STRAY, "") : text;
}

/** has reports whether there is a text under a key. */
export function has(key: string): boolean {
  return key in catalogues.en;
}

/** fill puts parameters into a text. */
export function fill(template: string, params: Params): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => (name in params ? String(params[name]) : whole));
}

/** tagOf is the value of the lang attribute. */
export function tagOf(lang: Lang): string {
  return lang === "zh" ? "zh-Hans" : "en";
}

/** relabel puts a language's texts into the elements that the server rendered. */
export function relabel(root: ParentNode, t: Text): void {
  for (const el of root.querySelectorAll<HTMLElement>("[data-t]")) el.textContent = t(el.dataset["t"]!);
  for (const el of root.querySelectorAll<HTMLElement>("[data-t-label]")) {
    el.setAttribute("aria-label", t(el.dataset["tLabel"]!));
    if (el.hasAttribute("title")) el.title = t(el.dataset["tLabel"]!);
  }
}
