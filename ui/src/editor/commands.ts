/** Everything that a key or ⌘K can do: one table for keys, command palette and the sheet of keys. */

import { type Direction, focusNode, nearest } from "@/canvas/focus";
import { ALIGNMENTS, type Alignment } from "@/document/align";
import { edgeKey, inputsOf, outputsOf } from "@/document/graph";
import type { Catalogue } from "@/document/wiring";
import { focusDrawer } from "@/drawers/Drawer";
import { placed } from "@/layout/placement";
import { presentGraph, redoNext, undoLast } from "@/stores/documentStore";
import { type Dock, selectEdge, selectNodes, selectNothing, show, useUi } from "@/stores/uiStore";
import { copySelected, cutSelected, duplicateSelected } from "./clipboard";
import {
  align,
  deleteAndReconnect,
  deleteSelected,
  edgeByKey,
  edgeToWatch,
  nudge,
  selectAll,
  selectAlong,
  selectedIds,
  selectedNode,
  tidyAll,
} from "./editing";
import { togglePause } from "./pausing";

export type Group = "Edit" | "Move" | "View" | "Run";

export interface EditorCommand {
  readonly id: string;
  readonly title: string;
  readonly group: Group;
  /** As written in `keys.ts`: `mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: readonly string[];
  readonly run: () => void;
  /** Arrows and the like: too many to list in ⌘K. */
  readonly isHidden?: boolean;
}

export interface CommandContext {
  readonly catalogue: Catalogue;
  readonly fitView: () => void;
  readonly openPalette: () => void;
  readonly deploy: () => void;
}

/** A new node goes behind the selected one, if rows leave it; on the selected edge; else somewhere free. */
function startAdding(catalogue: Catalogue): void {
  const edge = edgeByKey(useUi.getState().edge);
  if (edge) {
    show({ adding: { end: "edge", position: null, edge } });
    return;
  }
  const node = selectedNode();
  const output = node && catalogue.get(presentGraph().nodes[node]?.operator ?? "")?.outputs[0];
  show({
    adding: output
      ? { end: "output", position: null, from: { node, port: output.name } }
      : { end: null, position: null },
  });
}

/** Only what has ports for the wires that are there is offered. */
function startReplacing(): void {
  const node = selectedNode();
  if (!node) return;
  const isRead = outputsOf(presentGraph(), node).length > 0;
  const isFed = inputsOf(presentGraph(), node).length > 0;
  const end = isRead ? (isFed ? "edge" : "input") : isFed ? "output" : null;
  show({ adding: { end, position: null, replaces: node } });
}

function startConnecting(): void {
  const node = selectedNode();
  if (node) show({ connecting: node });
}

function watchEdge(): void {
  const node = selectedNode();
  const edge = node && edgeToWatch(node);
  if (edge) selectEdge(edgeKey(edge));
}

function step(direction: Direction): void {
  const next = nearest(placed(presentGraph()), selectedNode(), direction);
  if (next === null) return;
  selectNodes([next]);
  focusNode(next);
}

const arrows = (["left", "right", "up", "down"] as const).map((direction): EditorCommand => {
  const key = `Arrow${direction.charAt(0).toUpperCase()}${direction.slice(1)}`;
  return {
    id: `go-${direction}`,
    title: `Go to the node ${direction}`,
    group: "Move",
    keys: [key],
    run: () => step(direction),
    isHidden: true,
  };
});

const NUDGES = { Left: [-1, 0], Right: [1, 0], Up: [0, -1], Down: [0, 1] } as const;
const nudges = Object.entries(NUDGES).map(
  ([name, [dx, dy]]): EditorCommand => ({
    id: `nudge-${name}`,
    title: `Move the selection ${name.toLowerCase()}`,
    group: "Move",
    keys: [`alt+Arrow${name}`],
    run: () => nudge(dx, dy),
    isHidden: true,
  }),
);

const alignments = Object.entries(ALIGNMENTS).map(
  ([alignment, title]): EditorCommand => ({
    id: `align-${alignment}`,
    title: `Align: ${title.toLowerCase()}`,
    group: "Move",
    keys: [],
    run: () => selectedIds().length > 1 && align(alignment as Alignment),
  }),
);

export function editorCommands({ catalogue, fitView, openPalette, deploy }: CommandContext): EditorCommand[] {
  return [
    {
      id: "palette",
      title: "Command palette",
      group: "View",
      keys: ["mod+k"],
      run: openPalette,
      isHidden: true,
    },
    { id: "add", title: "Add a node", group: "Edit", keys: ["n"], run: () => startAdding(catalogue) },
    { id: "replace", title: "Replace the node", group: "Edit", keys: ["r"], run: startReplacing },
    { id: "connect", title: "Connect to…", group: "Edit", keys: ["c"], run: startConnecting },
    {
      id: "settings",
      title: "Edit the settings",
      group: "Edit",
      keys: ["Enter"],
      run: focusDrawer,
      isHidden: true,
    },
    { id: "delete", title: "Delete", group: "Edit", keys: ["Delete", "Backspace"], run: deleteSelected },
    {
      id: "reconnect",
      title: "Delete and reconnect",
      group: "Edit",
      keys: ["mod+Backspace"],
      run: deleteAndReconnect,
    },
    { id: "undo", title: "Undo", group: "Edit", keys: ["mod+z"], run: undoLast },
    { id: "redo", title: "Redo", group: "Edit", keys: ["mod+shift+z", "mod+y"], run: redoNext },
    { id: "copy", title: "Copy as text", group: "Edit", keys: ["mod+c"], run: () => void copySelected() },
    { id: "cut", title: "Cut", group: "Edit", keys: ["mod+x"], run: () => void cutSelected() },
    { id: "duplicate", title: "Duplicate", group: "Edit", keys: ["mod+d"], run: duplicateSelected },
    { id: "all", title: "Select all", group: "Move", keys: ["mod+a"], run: selectAll },
    {
      id: "upstream",
      title: "Select upstream",
      group: "Move",
      keys: ["shift+ArrowLeft"],
      run: () => selectAlong("up"),
    },
    {
      id: "downstream",
      title: "Select downstream",
      group: "Move",
      keys: ["shift+ArrowRight"],
      run: () => selectAlong("down"),
    },
    {
      id: "nothing",
      title: "Select nothing",
      group: "Move",
      keys: ["Escape"],
      run: selectNothing,
      isHidden: true,
    },
    ...arrows,
    ...nudges,
    ...alignments,
    {
      id: "tidy",
      title: "Tidy the layout",
      group: "View",
      keys: ["shift+alt+t"],
      run: () => void tidyAll(fitView),
    },
    { id: "fit", title: "Fit to the window", group: "View", keys: ["1"], run: fitView },
    { id: "problems", title: "Problems", group: "View", keys: ["p"], run: () => toggleDock("problems") },
    { id: "logs", title: "Events of the job", group: "View", keys: ["l"], run: () => toggleDock("events") },
    { id: "charts", title: "Charts", group: "View", keys: ["g"], run: () => toggleDock("charts") },
    {
      id: "preview",
      title: "Preview the rows that leave the node",
      group: "Run",
      keys: ["o"],
      run: watchEdge,
    },
    {
      id: "pause",
      title: "Pause or resume the pipeline",
      group: "Run",
      keys: ["d"],
      run: () => void togglePause(),
    },
    { id: "deploy", title: "Deploy", group: "Run", keys: ["mod+Enter"], run: deploy },
    { id: "canvas", title: "Show the canvas", group: "View", keys: [], run: () => show({ tab: "canvas" }) },
    { id: "sql", title: "Show as SQL", group: "View", keys: [], run: () => show({ tab: "sql" }) },
    { id: "text", title: "Show as text", group: "View", keys: [], run: () => show({ tab: "text" }) },
    { id: "python", title: "Show as Python", group: "View", keys: [], run: () => show({ tab: "python" }) },
    { id: "import", title: "Import", group: "Edit", keys: [], run: () => show({ dialog: "import" }) },
    { id: "keys", title: "Keys", group: "View", keys: ["?"], run: () => show({ dialog: "keys" }) },
  ];
}

function toggleDock(dock: Dock): void {
  show({ dock: useUi.getState().dock === dock ? null : dock });
}
