import type { Change, EdgeBody } from "@/api/types";
import { edgeKey } from "@/document/graph";

export type Mark = "added" | "removed" | "changed" | null;

/** How nodes and edges of one canvas differ from the other one. */
export interface Marks {
  node: (id: string) => Mark;
  edge: (edge: EdgeBody) => Mark;
}

export function marksOf(changes: readonly Change[], side: "old" | "new"): Marks {
  const nodes = new Map<string, Mark>();
  const edges = new Map<string, Mark>();
  for (const change of changes) {
    if (change.kind === "edge_added" || change.kind === "edge_removed") {
      if (change.edge) edges.set(edgeKey(change.edge), change.kind === "edge_added" ? "added" : "removed");
    } else if (change.kind === "node_renamed") {
      const id = side === "old" ? change.old : change.new;
      if (id) nodes.set(id, "changed");
    } else if (change.node) {
      nodes.set(change.node, markOf(change.kind));
    }
  }
  return { node: (id) => nodes.get(id) ?? null, edge: (edge) => edges.get(edgeKey(edge)) ?? null };
}

function markOf(kind: Change["kind"]): Mark {
  if (kind === "node_added") return "added";
  return kind === "node_removed" ? "removed" : "changed";
}
