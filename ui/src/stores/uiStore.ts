/** What is selected and open. Nothing of this is saved with the pipeline. */
import { create } from "zustand";
import type { Position } from "@/api/types";
import type { Edge } from "@/document/graph";
import type { OpenEnd } from "@/document/wiring";

export type Tab = "canvas" | "sql" | "text" | "python";
export type Dock = "problems" | "events" | "charts" | null;
export type Dialog = "deploy" | "keys" | "import" | null;
export type NodeTab = "settings" | "metrics" | "events" | "about";

/** A new node is being chosen: where it goes and what it is wired to. */
export interface Adding {
  readonly end: OpenEnd | null;
  readonly position: Position | null;
  /** The port that the wire was dragged from, or the node that a key was pressed on. */
  readonly from?: { readonly node: string; readonly port: string };
  readonly edge?: Edge;
  /** The node to put another operator in the place of. */
  readonly replaces?: string;
}

export interface UiState {
  readonly nodes: ReadonlySet<string>;
  readonly edge: string | null;
  /** The selection was made with the mouse, which is still there: the view does not move under it. */
  readonly isPointed: boolean;
  readonly tab: Tab;
  readonly dock: Dock;
  readonly dialog: Dialog;
  readonly nodeTab: NodeTab;
  readonly adding: Adding | null;
  /** The node whose wire is being drawn by keyboard. */
  readonly connecting: string | null;
  readonly isPaletteOpen: boolean;
  /** The canvas is zoomed out so far that figures could not be read: they are left out. */
  readonly isFar: boolean;
}

const NOTHING = { nodes: new Set<string>(), edge: null, isPointed: false };

export const useUi = create<UiState>(() => ({
  ...NOTHING,
  tab: "canvas",
  dock: null,
  dialog: null,
  nodeTab: "settings",
  adding: null,
  connecting: null,
  isPaletteOpen: true,
  isFar: false,
}));

export const show = (part: Partial<UiState>): void => useUi.setState(part);

export const selectNodes = (ids: Iterable<string>): void =>
  useUi.setState({ ...NOTHING, nodes: new Set(ids) });
export const selectEdge = (key: string): void => useUi.setState({ ...NOTHING, edge: key });
export const selectNothing = (): void => useUi.setState(NOTHING);

/** Back to the start, when another pipeline is opened. */
export const resetUi = (): void =>
  useUi.setState({
    ...NOTHING,
    tab: "canvas",
    dialog: null,
    adding: null,
    connecting: null,
    nodeTab: "settings",
  });
