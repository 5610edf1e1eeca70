import { useReactFlow, useStore, type Viewport } from "@xyflow/react";
import { useEffect } from "react";
import type { Position } from "@/api/types";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { placed } from "@/layout/placement";
import { presentGraph } from "@/stores/documentStore";
import { useUi } from "@/stores/uiStore";

const MARGIN_PX = 24;
const PAN_MS = 150;

/** Moves the view so that the selected node is seen: after arrows, after adding, and when a panel opens over it. */
export function useReveal(): void {
  const selected = useUi((state) => (state.nodes.size === 1 ? ([...state.nodes][0] ?? null) : null));
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const { getViewport, setViewport } = useReactFlow();
  useEffect(() => {
    const at = selected === null ? undefined : placed(presentGraph())[selected];
    if (!at || width === 0) return;
    const viewport = getViewport();
    const { x, y } = wayIntoView(viewport, at, { width, height }, useUi.getState().isPointed);
    if (x === 0 && y === 0) return;
    const moved = { ...viewport, x: viewport.x + x, y: viewport.y + y };
    void setViewport(moved, { duration: PAN_MS });
  }, [selected, width, height, getViewport, setViewport]);
}

/**
 * How far the view must move until the whole node is seen. Under the mouse nothing moves: a node that was put or
 * clicked there stays, unless a panel covers the very place where the mouse is.
 */
export function wayIntoView(
  { x, y, zoom }: Viewport,
  at: Position,
  view: { width: number; height: number },
  isPointed: boolean,
): Position {
  const across = way(at.x * zoom + x, NODE_WIDTH_PX * zoom, view.width);
  const down = way(at.y * zoom + y, NODE_HEIGHT_PX * zoom, view.height);
  if (isPointed && across.isMiddleSeen && down.isMiddleSeen) return { x: 0, y: 0 };
  return { x: across.way, y: down.way };
}

function way(start: number, length: number, size: number): { way: number; isMiddleSeen: boolean } {
  const middle = start + length / 2;
  const isMiddleSeen = middle >= 0 && middle <= size;
  const before = MARGIN_PX - start;
  if (before > 0) return { way: before, isMiddleSeen };
  // Where the node is wider than the view, its beginning is shown.
  return { way: Math.max(Math.min(0, size - MARGIN_PX - start - length), before), isMiddleSeen };
}
