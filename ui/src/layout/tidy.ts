/** Auto-layout: rows flow from left to right. */
import { Graph as Dagre, layout } from "@dagrejs/dagre";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import type { Edge, Layout } from "@/document/graph";

export const COLUMN_GAP_PX = 112;
export const ROW_GAP_PX = 40;
export const GRID_PX = 8;

export interface TidyTask {
  ids: readonly string[];
  edges: readonly Pick<Edge, "source" | "target">[];
}

export const onGrid = (value: number): number => Math.round(value / GRID_PX) * GRID_PX;

/** Positions of all nodes, on the grid. The same graph always gets the same layout. */
export function tidy({ ids, edges }: TidyTask): Layout {
  const graph = new Dagre();
  graph.setGraph({ rankdir: "LR", ranksep: COLUMN_GAP_PX, nodesep: ROW_GAP_PX });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of [...ids].sort()) graph.setNode(id, { width: NODE_WIDTH_PX, height: NODE_HEIGHT_PX });
  for (const { source, target } of edges) graph.setEdge(source, target);
  layout(graph);
  return Object.fromEntries(
    ids.map((id) => {
      const { x, y } = graph.node(id) as { x: number; y: number };
      return [id, { x: onGrid(x - NODE_WIDTH_PX / 2), y: onGrid(y - NODE_HEIGHT_PX / 2) }];
    }),
  );
}
