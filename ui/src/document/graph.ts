/** The pipeline as it is edited: immutable, with the layout beside the graph. */
import type { Config, DocumentBody, EdgeBody, LayoutBody, NodeBody, Position } from "@/api/types";

export type Node = Readonly<NodeBody>;
export type Edge = Readonly<EdgeBody>;
export type Nodes = Readonly<Record<string, Node>>;
export type Layout = Readonly<Record<string, Position>>;

/**
 * Always well-formed: edges join nodes that exist, an input port has at most one edge, no rows go round in a
 * circle, and only nodes that exist have a position.
 */
export interface Graph {
  readonly nodes: Nodes;
  readonly edges: readonly Edge[];
  readonly layout: Layout;
}

export const EMPTY_GRAPH: Graph = { nodes: {}, edges: [], layout: {} };
export const DOCUMENT_FORMAT = 1;
export const NODE_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

export const edgeKey = (edge: Edge): string =>
  `${edge.source}.${edge.source_port}>${edge.target}.${edge.target_port}`;

export const isSameEdge = (one: Edge, other: Edge): boolean => edgeKey(one) === edgeKey(other);

export const inputsOf = (graph: Graph, id: string): Edge[] =>
  graph.edges.filter((edge) => edge.target === id);
export const outputsOf = (graph: Graph, id: string): Edge[] =>
  graph.edges.filter((edge) => edge.source === id);

export const isOccupied = (graph: Graph, target: string, port: string): boolean =>
  graph.edges.some((edge) => edge.target === target && edge.target_port === port);

/** Ids that rows of `start` flow to, or come from; without `start` itself. */
export function reachable(graph: Graph, start: string, direction: "up" | "down"): Set<string> {
  const next = neighbours(graph, direction);
  const found = new Set<string>();
  const waiting = [start];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const other of next.get(id) ?? []) {
      if (found.has(other)) continue;
      found.add(other);
      waiting.push(other);
    }
  }
  return found;
}

function neighbours(graph: Graph, direction: "up" | "down"): Map<string, string[]> {
  const next = new Map<string, string[]>();
  for (const { source, target } of graph.edges) {
    const [from, to] = direction === "down" ? [source, target] : [target, source];
    const known = next.get(from);
    if (known) known.push(to);
    else next.set(from, [to]);
  }
  return next;
}

/** Whether an edge from `source` to `target` would close a circle. */
export function closesCircle(graph: Graph, source: string, target: string): boolean {
  return source === target || reachable(graph, target, "down").has(source);
}

/** Whether the edge can be added and leave the graph well-formed. Says nothing about ports and columns. */
export function fits(graph: Graph, edge: Edge): boolean {
  return (
    edge.source in graph.nodes &&
    edge.target in graph.nodes &&
    !isOccupied(graph, edge.target, edge.target_port) &&
    !closesCircle(graph, edge.source, edge.target)
  );
}

/** The graph with as many of the edges as fit, in their order. */
export function withFittingEdges(graph: Graph, edges: readonly Edge[]): Graph {
  let grown = graph;
  for (const edge of edges) {
    if (fits(grown, edge)) grown = { ...grown, edges: [...grown.edges, edge] };
  }
  return grown;
}

/** A document as the server sent it. What would not be well-formed is left out: the server lists it as a problem. */
export function graphOf(document: DocumentBody, layout: LayoutBody): Graph {
  const nodes: Record<string, Node> = {};
  for (const node of document.nodes) nodes[node.id] = node;
  const known = Object.fromEntries(Object.entries(layout).filter(([id]) => id in nodes));
  return withFittingEdges({ nodes, edges: [], layout: known }, document.edges);
}

/** In the server's order, so that equal graphs are equal documents. */
export function documentOf(graph: Graph, name: string): DocumentBody {
  return {
    format: DOCUMENT_FORMAT,
    name,
    nodes: Object.values(graph.nodes).sort((one, other) => (one.id < other.id ? -1 : 1)),
    edges: [...graph.edges].sort((one, other) => (edgeKey(one) < edgeKey(other) ? -1 : 1)),
  };
}

/** Whether both mean the same and are drawn in the same places. */
export const isSameGraph = (one: Graph, other: Graph): boolean =>
  JSON.stringify(documentOf(one, "")) === JSON.stringify(documentOf(other, "")) &&
  JSON.stringify(sortedLayout(one)) === JSON.stringify(sortedLayout(other));

const sortedLayout = ({ layout }: Graph): (string | number)[][] =>
  Object.entries(layout)
    .map(([id, { x, y }]) => [id, x, y])
    .sort(([one], [other]) => ((one ?? "") < (other ?? "") ? -1 : 1));

/** The part of the graph that the ids name, with the edges between them. */
export function subgraph(graph: Graph, ids: ReadonlySet<string>): Graph {
  const pick = <T>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([id]) => ids.has(id)));
  return {
    nodes: pick(graph.nodes),
    edges: graph.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target)),
    layout: pick(graph.layout),
  };
}

export const withConfig = (node: Node, config: Config): Node => ({ ...node, config });
