import type { DocumentBody, LayoutBody } from "@/api/types";

const COLUMN = 260;
const ROW = 100;

/**
 * A place for every node: where it was put, else in a column by its distance from the sources.
 * A pipeline that came from SQL or text has no layout of its own.
 */
export function placesOf(document: DocumentBody, layout: LayoutBody): LayoutBody {
  const missing = document.nodes.filter((node) => !layout[node.id]);
  if (missing.length === 0) return layout;
  const depths = depthsOf(document);
  const below = Math.max(-ROW, ...Object.values(layout).map((place) => place.y)) + ROW;
  const filled = new Map<number, number>();
  const places: LayoutBody = { ...layout };
  for (const node of missing) {
    const depth = depths.get(node.id) ?? 0;
    const row = filled.get(depth) ?? 0;
    filled.set(depth, row + 1);
    places[node.id] = { x: depth * COLUMN, y: below + row * ROW };
  }
  return places;
}

/** The longest way from a source; a cycle, which a draft may hold, ends after as many steps as there are nodes. */
function depthsOf({ nodes, edges }: DocumentBody): Map<string, number> {
  const depths = new Map(nodes.map((node) => [node.id, 0]));
  for (let step = 0; step < nodes.length; step += 1) {
    let isDone = true;
    for (const { source, target } of edges) {
      const wanted = (depths.get(source) ?? 0) + 1;
      if (wanted > (depths.get(target) ?? 0) && wanted < nodes.length) {
        depths.set(target, wanted);
        isDone = false;
      }
    }
    if (isDone) break;
  }
  return depths;
}
