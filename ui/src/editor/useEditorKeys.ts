import { useEffect } from "react";
import { useUi } from "@/stores/uiStore";
import { pasteText } from "./clipboard";
import type { EditorCommand } from "./commands";
import { isKey, isTyping, isWidgetKey } from "./keys";

/** Commands that work wherever the focus is. */
const EVERYWHERE = new Set(["palette", "deploy"]);

/** Runs commands by their keys, and pastes what the clipboard has onto the canvas. */
export function useEditorKeys(commands: readonly EditorCommand[]): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const command = commands.find(({ keys }) => keys.some((key) => isKey(event, key)));
      if (!command || event.defaultPrevented || isWidgetKey(event.target, event.key)) return;
      const isElsewhere =
        isTyping(event.target) || useUi.getState().tab !== "canvas" || hasSelectedText(command.id);
      if (isElsewhere && !EVERYWHERE.has(command.id)) return;
      event.preventDefault();
      command.run();
    };
    const onPaste = (event: ClipboardEvent) => {
      if (isTyping(event.target) || useUi.getState().tab !== "canvas") return;
      void pasteText(event.clipboardData?.getData("text/plain") ?? "");
    };
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("paste", onPaste);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("paste", onPaste);
    };
  }, [commands]);
}

/** Somebody who marked a text and copies wants that text. */
function hasSelectedText(command: string): boolean {
  return command === "copy" && !(window.getSelection()?.isCollapsed ?? true);
}
