import { useEffect } from "react";
import { useUi } from "@/stores/uiStore";
import { pasteText } from "./clipboard";
import type { EditorCommand } from "./commands";
import { isKey, isNowhere, isTyping, isWidgetKey, panelInUse, panelOf } from "./keys";

/** Commands that work wherever the focus is. */
const EVERYWHERE = new Set(["palette", "deploy"]);
/** Commands that work beside fields in panels as well. */
const IN_PANELS = new Set([...EVERYWHERE, "undo", "redo", "nothing"]);
/** What takes nodes away is done from the canvas alone. */
const ON_CANVAS = new Set(["delete", "reconnect", "cut"]);

/** Runs commands by their keys, and pastes what the clipboard has onto the canvas. */
export function useEditorKeys(commands: readonly EditorCommand[]): void {
  useEffect(() => {
    let used: Element | null = null;
    const noteUse = ({ target }: Event) => {
      if (!isNowhere(target)) used = panelOf(target);
    };
    const isAllowed = (id: string, event: KeyboardEvent | ClipboardEvent): boolean => {
      const { target } = event;
      if (EVERYWHERE.has(id)) return true;
      if ("key" in event && isWidgetKey(target, event.key)) return false;
      if (isTyping(target) || useUi.getState().tab !== "canvas" || hasSelectedText(id)) return false;
      if (panelInUse(target, used) !== null) return IN_PANELS.has(id);
      return !ON_CANVAS.has(id) || isOnCanvas(target);
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const command = commands.find(({ keys }) => keys.some((key) => isKey(event, key)));
      if (!command || event.defaultPrevented || !isAllowed(command.id, event)) return;
      event.preventDefault();
      command.run();
    };
    const onPaste = (event: ClipboardEvent) => {
      if (!isAllowed("paste", event)) return;
      void pasteText(event.clipboardData?.getData("text/plain") ?? "");
    };
    window.addEventListener("focusin", noteUse, true);
    window.addEventListener("pointerdown", noteUse, true);
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("paste", onPaste);
    return () => {
      window.removeEventListener("focusin", noteUse, true);
      window.removeEventListener("pointerdown", noteUse, true);
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("paste", onPaste);
    };
  }, [commands]);
}

const isOnCanvas = (target: EventTarget | null): boolean =>
  isNowhere(target) || (target instanceof Element && target.closest("[data-canvas]") !== null);

/** Somebody who marked a text and copies wants that text. */
function hasSelectedText(command: string): boolean {
  return command === "copy" && !(window.getSelection()?.isCollapsed ?? true);
}
