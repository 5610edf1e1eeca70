/** Where nodes without a position stand, so that every node can be drawn at once. */
import type { Position } from "@/api/types";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { type Graph, inputsOf, type Layout, outputsOf, reachable } from "@/document/graph";
import { COLUMN_GAP_PX, ROW_GAP_PX } from "./tidy";

const STEP_X = NODE_WIDTH_PX + COLUMN_GAP_PX;
const STEP_Y = NODE_HEIGHT_PX + ROW_GAP_PX;
const TRIES_MAX = 1000;

/** The layout with a place for every node: beside what it reads or feeds, where nothing stands yet. */
export function placed(graph: Graph): Layout {
  const missing = Object.keys(graph.nodes).filter((id) => !(id in graph.layout));
  if (missing.length === 0) return graph.layout;
  const layout: Record<string, Position> = { ...graph.layout };
  const waiting = new Set(missing.sort());
  while (waiting.size > 0) {
    const ready = [...waiting].filter((id) =>
      inputsOf(graph, id).every(({ source }) => !waiting.has(source)),
    );
    // In a circle each waits for the other: then they are placed as they come.
    for (const id of ready.length > 0 ? ready : waiting) {
      layout[id] = freePlace(layout, wished(graph, layout, id), wires(graph, layout));
      waiting.delete(id);
    }
  }
  return layout;
}

function wished(graph: Graph, layout: Layout, id: string): Position {
  for (const { source } of inputsOf(graph, id)) {
    const at = layout[source];
    if (at) return { x: at.x + STEP_X, y: at.y };
  }
  for (const { target } of outputsOf(graph, id)) {
    const at = layout[target];
    if (at) return { x: at.x - STEP_X, y: at.y };
  }
  // Wired to nothing: below all that is there, so that it lies on no wire.
  const all = Object.values(layout);
  if (all.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...all.map(({ x }) => x)), y: Math.max(...all.map(({ y }) => y)) + STEP_Y };
}

/** The place of a wire on the canvas, from port to port. */
export interface Wire {
  readonly from: Position;
  readonly to: Position;
}

/** The wires between nodes that have a place. */
export function wires(graph: Graph, layout: Layout): Wire[] {
  return graph.edges.flatMap(({ source, target }) => {
    const [one, other] = [layout[source], layout[target]];
    if (!one || !other) return [];
    const middle = NODE_HEIGHT_PX / 2;
    return [
      { from: { x: one.x + NODE_WIDTH_PX, y: one.y + middle }, to: { x: other.x, y: other.y + middle } },
    ];
  });
}

const PARTS = 16;

/** Whether the wire, taken as straight, passes under a node at that place. Its own ends do not count. */
function passes({ from, to }: Wire, { x, y }: Position): boolean {
  for (let part = 1; part < PARTS; part += 1) {
    const [wx, wy] = [from.x + ((to.x - from.x) * part) / PARTS, from.y + ((to.y - from.y) * part) / PARTS];
    if (wx > x && wx < x + NODE_WIDTH_PX && wy > y && wy < y + NODE_HEIGHT_PX) return true;
  }
  return false;
}

/** The first place at or below the wished one where no node stands and no wire passes. */
export function freePlace(layout: Layout, { x, y }: Position, around: readonly Wire[] = []): Position {
  const taken = Object.values(layout);
  const isTaken = (top: number) =>
    taken.some((at) => Math.abs(at.x - x) < NODE_WIDTH_PX + 8 && Math.abs(at.y - top) < NODE_HEIGHT_PX + 8) ||
    around.some((wire) => passes(wire, { x, y: top }));
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (!isTaken(y + tries * STEP_Y)) return { x, y: y + tries * STEP_Y };
  }
  return { x, y };
}

/**
 * Places that let a node come between two others: what lies behind it, and would be covered, moves to the right. Only
 * nodes that moved are named.
 */
export function withRoom(graph: Graph, layout: Layout, source: string, target: string): Layout | null {
  const [one, other] = [layout[source], layout[target]];
  if (!one || !other || other.x <= one.x) return null;
  const missing = 2 * STEP_X - (other.x - one.x);
  if (missing <= 0) return {};
  const behind = new Set([target, ...reachable(graph, target, "down")]);
  return Object.fromEntries(
    [...behind].flatMap((id) => {
      const at = layout[id];
      return at ? [[id, { x: at.x + missing, y: at.y }]] : [];
    }),
  );
}
