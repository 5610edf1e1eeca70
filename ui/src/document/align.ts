/** Moves of several nodes at once. */
import type { Graph, Layout } from "./graph";

export type Alignment = "left" | "top" | "center" | "middle" | "horizontal" | "vertical";

/** Sizes that nodes have on the canvas; alignment of centres and the layout need them. */
export const NODE_WIDTH_PX = 208;
export const NODE_HEIGHT_PX = 64;

export const ALIGNMENTS: Readonly<Record<Alignment, string>> = {
  left: "Left edges",
  top: "Top edges",
  center: "Centre column",
  middle: "Centre row",
  horizontal: "Even columns",
  vertical: "Even rows",
};

/** New positions of the nodes with the ids; those without a position stay without one. */
export function aligned(graph: Graph, ids: readonly string[], alignment: Alignment): Layout {
  const placed = ids.flatMap((id) => {
    const position = graph.layout[id];
    return position ? [{ id, ...position }] : [];
  });
  const xs = placed.map(({ x }) => x);
  const ys = placed.map(({ y }) => y);
  const to = (place: (node: { id: string; x: number; y: number }) => { x: number; y: number }): Layout =>
    Object.fromEntries(placed.map((node) => [node.id, place(node)]));
  switch (alignment) {
    case "left":
      return to(({ y }) => ({ x: Math.min(...xs), y }));
    case "top":
      return to(({ x }) => ({ x, y: Math.min(...ys) }));
    case "center":
      return to(({ y }) => ({ x: mean(xs), y }));
    case "middle":
      return to(({ x }) => ({ x, y: mean(ys) }));
    case "horizontal":
      return to(({ id, x, y }) => ({ x: spaced(placed, "x").get(id) ?? x, y }));
    case "vertical":
      return to(({ id, x, y }) => ({ x, y: spaced(placed, "y").get(id) ?? y }));
  }
}

const mean = (values: readonly number[]) =>
  Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);

function spaced(
  placed: readonly { id: string; x: number; y: number }[],
  axis: "x" | "y",
): Map<string, number> {
  const sorted = [...placed].sort((one, other) => one[axis] - other[axis]);
  const first = sorted[0]?.[axis] ?? 0;
  const last = sorted.at(-1)?.[axis] ?? 0;
  const step = sorted.length > 1 ? (last - first) / (sorted.length - 1) : 0;
  return new Map(sorted.map(({ id }, index) => [id, Math.round(first + index * step)]));
}
