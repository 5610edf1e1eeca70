import type { Graph, Nodes } from "./graph";

/** `filter`, then `filter_2`, `filter_3` …: the first that is free. */
export function freshId(nodes: Nodes, operator: string, taken: ReadonlySet<string> = new Set()): string {
  const stem = operator.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
  const isFree = (id: string) => !(id in nodes) && !taken.has(id);
  if (isFree(stem)) return stem;
  let count = 2;
  while (!isFree(`${stem}_${count}`)) count += 1;
  return `${stem}_${count}`;
}

/** The pasted part with ids that are free in `into`; ids that are free already stay. */
export function withFreshIds(pasted: Graph, into: Nodes): Graph {
  const renamed = new Map<string, string>();
  const taken = new Set<string>();
  for (const node of Object.values(pasted.nodes)) {
    const isFree = !(node.id in into) && !taken.has(node.id);
    const id = isFree
      ? node.id
      : freshId(into, node.id.replace(/_\d+$/, ""), new Set([...taken, ...Object.keys(pasted.nodes)]));
    renamed.set(node.id, id);
    taken.add(id);
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
