import { describe, expect, it } from "vitest";
import { editorCommands } from "./commands";
import { isKey, isTyping, isWidgetKey, panelInUse, panelOf } from "./keys";

const press = (
  key: string,
  held: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {},
  code = "",
) => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...held,
});

describe("keys", () => {
  it.each([
    [press("n"), "n", true],
    [press("n", { ctrlKey: true }), "n", false],
    [press("N", { shiftKey: true }), "n", false],
    [press("z", { metaKey: true }), "mod+z", true],
    [press("Z", { ctrlKey: true, shiftKey: true }), "mod+z", false],
    [press("Z", { ctrlKey: true, shiftKey: true }), "mod+shift+z", true],
    [press("?", { shiftKey: true }), "?", true],
    [press("ˇ", { altKey: true, shiftKey: true }, "KeyT"), "shift+alt+t", true],
    [press("Backspace", { ctrlKey: true }), "mod+Backspace", true],
    [press("Backspace", { ctrlKey: true }), "Backspace", false],
  ])("%o is %s: %s", (event, written, expected) => expect(isKey(event, written)).toBe(expected));

  it("leaves fields alone", () => {
    expect(isTyping(document.createElement("input"))).toBe(true);
    expect(isTyping(document.createElement("div"))).toBe(false);
  });

  it("takes only arrows and Enter from a choice between views", () => {
    const choice = Object.assign(document.createElement("input"), { type: "radio" });
    expect(isTyping(choice)).toBe(false);
    expect(isWidgetKey(choice, "ArrowLeft")).toBe(true);
  });

  it("leaves arrows and Enter to buttons", () => {
    const button = document.createElement("button");
    expect(isWidgetKey(button, "Enter")).toBe(true);
    expect(isWidgetKey(button, "n")).toBe(false);
    expect(isWidgetKey(document.body, "ArrowLeft")).toBe(false);
  });

  it("belong to the panel that was used last, while it is open", () => {
    const panel = document.body.appendChild(document.createElement("section"));
    panel.toggleAttribute("data-panel", true);
    const button = panel.appendChild(document.createElement("button"));
    expect(panelOf(button)).toBe(panel);
    expect(panelInUse(button, null)).toBe(panel);
    expect(panelInUse(document.body, panel)).toBe(panel);
    expect(panelInUse(document.createElement("button"), panel)).toBe(null);
    panel.remove();
    expect(panelInUse(document.body, panel)).toBe(null);
  });

  it("are given to one command each", () => {
    const nothing = () => undefined;
    const commands = editorCommands({
      catalogue: new Map(),
      fitView: nothing,
      openPalette: nothing,
      deploy: nothing,
    });
    const keys = commands.flatMap((command) => command.keys);
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(commands.map(({ id }) => id)).size).toBe(commands.length);
  });
});
