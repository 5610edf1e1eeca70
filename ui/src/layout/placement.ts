/** Where nodes without a position stand, so that every node can be drawn at once. */
import type { Position } from "@/api/types";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { type Graph, inputsOf, type Layout, outputsOf } from "@/document/graph";
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
    for (const id of ready) {
      layout[id] = freePlace(layout, wished(graph, layout, id));
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
  return { x: 0, y: 0 };
}

/** The first place at or below the wished one where no node stands. */
export function freePlace(layout: Layout, { x, y }: Position): Position {
  const taken = Object.values(layout);
  const isTaken = (top: number) =>
    taken.some((at) => Math.abs(at.x - x) < NODE_WIDTH_PX && Math.abs(at.y - top) < NODE_HEIGHT_PX + 8);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (!isTaken(y + tries * STEP_Y)) return { x, y: y + tries * STEP_Y };
  }
  return { x, y };
}
