/** Moves the focus between nodes, as arrows do. */
import type { Position } from "@/api/types";
import type { Layout } from "@/document/graph";

export type Direction = "left" | "right" | "up" | "down";

/** How long a node that was just added may take to be drawn. */
const FRAMES_MAX = 30;

/** Focuses a node as soon as it is drawn. */
export function focusNode(id: string, frames = FRAMES_MAX): void {
  const element = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`);
  if (element) element.focus();
  else if (frames > 0) requestAnimationFrame(() => focusNode(id, frames - 1));
}

/** The nearest node in that direction: straight ahead counts more than far aside. */
export function nearest(layout: Layout, from: string | null, direction: Direction): string | null {
  const start = from === null ? null : layout[from];
  if (!start) return Object.keys(layout)[0] ?? null;
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [id, at] of Object.entries(layout)) {
    const cost = id === from ? null : costTo(start, at, direction);
    if (cost !== null && cost < least) [best, least] = [id, cost];
  }
  return best;
}

const ASIDE_WEIGHT = 2;

function costTo(from: Position, to: Position, direction: Direction): number | null {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const [ahead, aside] = {
    left: [-dx, dy],
    right: [dx, dy],
    up: [-dy, dx],
    down: [dy, dx],
  }[direction] as [number, number];
  return ahead > 0 ? ahead + ASIDE_WEIGHT * Math.abs(aside) : null;
}
