import type { Graph, Nodes } from "./graph";

type IsFree = (id: string) => boolean;

function numbered(stem: string, first: number, isFree: IsFree): string {
  let count = first;
  while (!isFree(`${stem}_${count}`)) count += 1;
  return `${stem}_${count}`;
}

/** `filter_1`, `filter_2` …: the first that is free. Notations give the same names, and so may leave them out. */
export function freshId(nodes: Nodes, operator: string): string {
  return numbered(operator.replaceAll("-", "_"), 1, (id) => !(id in nodes));
}

/** The pasted part with ids that are free in `into`; ids that are free already stay. */
export function withFreshIds(pasted: Graph, into: Nodes): Graph {
  const renamed = new Map<string, string>();
  const taken = new Set([...Object.keys(into), ...Object.keys(pasted.nodes)]);
  for (const id of Object.keys(pasted.nodes)) {
    if (!(id in into)) continue;
    const fresh = numbered(id.replace(/_\d+$/, ""), 2, (other) => !taken.has(other));
    renamed.set(id, fresh);
    taken.add(fresh);
  }
  return withRenamedIds(pasted, renamed);
}

export function withRenamedIds(graph: Graph, renamed: ReadonlyMap<string, string>): Graph {
  const to = (id: string) => renamed.get(id) ?? id;
  const entries = Object.values(graph.nodes).map(
    (node) => [to(node.id), { ...node, id: to(node.id) }] as const,
  );
  return {
    nodes: Object.fromEntries(entries),
    edges: graph.edges.map((edge) => ({ ...edge, source: to(edge.source), target: to(edge.target) })),
    layout: Object.fromEntries(Object.entries(graph.layout).map(([id, position]) => [to(id), position])),
  };
}
