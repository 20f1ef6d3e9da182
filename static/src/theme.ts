// Light, dark, or as the system has it. The choice is kept in the browser.

export type Theme = "light" | "dark" | "system";

const KEY = "tidemark.theme";

export function chosen(): Theme {
  try {
    const v = localStorage.getItem(KEY);
    return v === "light" || v === "dark" ? v : "system";
  } catch {
    return "system"; // storage may be forbidden
  }
}

export function apply(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function choose(theme: Theme): void {
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // It holds for this page at least.
  }
  apply(theme);
}
