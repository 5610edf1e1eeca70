/** Keys as text: `mod+shift+z`. */

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.userAgent);

interface Pressed {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** Whether the event is that key. A printed sign such as `?` says by itself whether Shift is held. */
export function isKey(event: Pressed, written: string): boolean {
  const parts = written.split("+");
  const key = parts.at(-1) ?? "";
  const has = (part: string) => parts.slice(0, -1).includes(part);
  const isSign = key.length === 1 && !/[a-z0-9]/i.test(key);
  const isMod = event.ctrlKey || event.metaKey;
  if (isMod !== has("mod") || event.altKey !== has("alt")) return false;
  if (!isSign && event.shiftKey !== has("shift")) return false;
  // With Alt held, the key is a sign of its own on some keyboards; its place stays.
  return (
    event.key.toLowerCase() === key.toLowerCase() ||
    (event.altKey && event.code === `Key${key.toUpperCase()}`)
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Backspace: "⌫",
  Delete: "Del",
  Escape: "Esc",
  alt: "Alt",
  shift: "Shift",
};

/** The parts of a key as printed on the keyboard. */
export function keyNames(written: string): string[] {
  const mod = isMac() ? "⌘" : "Ctrl";
  return written
    .split("+")
    .map((part) => (part === "mod" ? mod : (NAMES[part] ?? part.toUpperCase().replace("ENTER", "Enter"))));
}

/** Arrows and Enter belong to the button, link, choice or tab that has the focus. */
export function isWidgetKey(target: EventTarget | null, key: string): boolean {
  const isTheirs = key.startsWith("Arrow") || key === "Enter";
  return isTheirs && target instanceof HTMLElement && target.closest("button, a, input, [role=tab]") !== null;
}

/** Keys belong to the field or dialog that has the focus; into a choice between views nothing is typed. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.closest(
      "input:not([type=radio]), textarea, select, [contenteditable=true], .cm-editor, [role=dialog], [role=menu]",
    ) !== null
  );
}

/** Panels hold forms and lists: keys pressed there, on a button too, never edit the canvas. */
const PANEL = "[data-panel]";

export const panelOf = (target: EventTarget | null): Element | null =>
  target instanceof Element ? target.closest(PANEL) : null;

/** A click beside everything that can have the focus leaves it here. */
export const isNowhere = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches("body, main");

/**
 * The panel that keys belong to. Text in a panel takes no focus, and a button that removes itself loses it: keys then
 * still belong to the panel that was used last, until it closes or something else is used.
 */
export function panelInUse(target: EventTarget | null, used: Element | null): Element | null {
  if (!isNowhere(target)) return panelOf(target);
  return used?.isConnected ? used : null;
}
