// The keyboard: everything that the mouse can do has a key or a focus.

/** What a key does, by the name of its text in the catalogue. */
export interface KeyDeeds {
  playPause(): void;
  step(): void;
  story(): void;
  slower(): void;
  faster(): void;
  focus(place: number): void;
  kill(): void;
  help(): void;
}

/** The keys as the help shows them, with the key of the text that explains them. */
export const KEYS: [string[], string][] = [
  [["Space"], "help.play"],
  [["."], "help.step"],
  [[">"], "help.story"],
  [["[", "]"], "help.speed"],
  [["1", "…", "7"], "help.focus"],
  [["←", "→"], "help.walk"],
  [["K"], "help.kill"],
  [["?"], "help.help"],
];

export function listen(d: KeyDeeds): void {
  // Who has clicked with a mouse and then presses Space means play, not the same button again.
  document.addEventListener("click", (e) => {
    const button = (e.target as HTMLElement).closest<HTMLElement>("button");
    if (button && (e as PointerEvent).pointerType === "mouse") button.blur();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const target = e.target as HTMLElement;
    if (target.matches("input:not([type=range]), textarea, select") || target.isContentEditable) return;
    // A focused control keeps the keys that work it.
    if (e.key === " " && target.closest("button, a, summary, input")) return;
    const action: Record<string, () => void> = {
      " ": d.playPause, ".": d.step, ">": d.story, "[": d.slower, "]": d.faster, k: d.kill, K: d.kill, "?": d.help,
    };
    const digit = /^[1-7]$/.test(e.key) ? Number(e.key) : 0;
    if (!digit && !action[e.key]) return;
    e.preventDefault();
    if (digit) d.focus(digit);
    else action[e.key]!();
  });
}
