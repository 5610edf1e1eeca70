/** What each command does to a graph. A command that does not fit leaves the graph as it is: the same object. */
import type { Command, PortNames } from "./commands";
import {
  documentOf,
  type Edge,
  edgeKey,
  type Graph,
  inputsOf,
  isSameEdge,
  type Layout,
  NODE_ID,
  type Node,
  outputsOf,
  withConfig,
  withFittingEdges,
} from "./graph";
import { withRenamedIds } from "./names";

type Of<Kind extends Command["kind"]> = Extract<Command, { kind: Kind }>;

export function apply(graph: Graph, command: Command): Graph {
  switch (command.kind) {
    case "add":
      return add(graph, command);
    case "remove":
      return remove(graph, command);
    case "remove-and-reconnect":
      return command.ids.reduce(removeAndReconnect, graph);
    case "insert":
      return insert(graph, command);
    case "splice":
      return splice(graph, command);
    case "replace":
      return replace(graph, command);
    case "connect":
      return withFittingEdges(graph, [command.edge]);
    case "set":
      return set(graph, command);
    case "configure":
      return withNode(graph, command.id, (node) => withConfig(node, command.config));
    case "rename":
      return rename(graph, command);
    case "move":
      return move(graph, command.positions);
    case "rewrite":
      return rewrite(graph, command.graph);
  }
}

function add(graph: Graph, { part }: Of<"add">): Graph {
  const ids = Object.keys(part.nodes);
  if (ids.length === 0 || ids.some((id) => id in graph.nodes)) return graph;
  const grown = {
    nodes: { ...graph.nodes, ...part.nodes },
    edges: graph.edges,
    layout: { ...graph.layout, ...part.layout },
  };
  return withFittingEdges(grown, part.edges);
}

function remove(graph: Graph, { ids, edges }: Of<"remove">): Graph {
  const gone = new Set(ids.filter((id) => id in graph.nodes));
  const cut = new Set(edges.map(edgeKey));
  const kept = graph.edges.filter(
    (edge) => !gone.has(edge.source) && !gone.has(edge.target) && !cut.has(edgeKey(edge)),
  );
  if (gone.size === 0 && kept.length === graph.edges.length) return graph;
  return { nodes: without(graph.nodes, gone), edges: kept, layout: without(graph.layout, gone) };
}

/** The rows that came into the first input go on to everything that read the node. */
function removeAndReconnect(graph: Graph, id: string): Graph {
  const [before] = inputsOf(graph, id);
  const after = outputsOf(graph, id);
  const rest = remove(graph, { kind: "remove", ids: [id], edges: [] });
  if (before === undefined) return rest;
  const bridges = after.map((edge) => ({ ...edge, source: before.source, source_port: before.source_port }));
  return withFittingEdges(rest, bridges);
}

function insert(graph: Graph, command: Of<"insert">): Graph {
  const { edge, id, operator, config, input, output, position, moved = {} } = command;
  if (id in graph.nodes || !graph.edges.some((other) => isSameEdge(other, edge))) return graph;
  const node: Node = { id, operator, config };
  const grown: Graph = {
    nodes: { ...graph.nodes, [id]: node },
    edges: graph.edges.filter((other) => !isSameEdge(other, edge)),
    layout: { ...graph.layout, ...known(graph, moved), [id]: position },
  };
  return withFittingEdges(grown, ends(edge, id, input, output));
}

const known = (graph: Graph, layout: Layout): Layout =>
  Object.fromEntries(Object.entries(layout).filter(([id]) => id in graph.nodes));

/** A node that is connected to nothing comes between the ends of the edge. */
function splice(graph: Graph, { edge, id, input, output, position }: Of<"splice">): Graph {
  const isFree = id in graph.nodes && inputsOf(graph, id).length + outputsOf(graph, id).length === 0;
  if (!isFree || !graph.edges.some((other) => isSameEdge(other, edge))) return graph;
  const cut: Graph = {
    ...graph,
    edges: graph.edges.filter((other) => !isSameEdge(other, edge)),
    layout: { ...graph.layout, [id]: position },
  };
  return withFittingEdges(cut, ends(edge, id, input, output));
}

/** The two edges that lead through a node in the place of one. */
const ends = (edge: Edge, id: string, input: string, output: string): Edge[] => [
  { ...edge, target: id, target_port: input },
  { ...edge, source: id, source_port: output },
];

function replace(graph: Graph, { id, operator, config, ports }: Of<"replace">): Graph {
  const replaced = withNode(graph, id, (node) => ({ ...node, operator, config }));
  return replaced === graph
    ? graph
    : { ...replaced, edges: replaced.edges.filter((edge) => hasPort(edge, id, ports)) };
}

function hasPort(edge: Edge, id: string, ports: PortNames): boolean {
  if (edge.source === id) return ports.outputs.includes(edge.source_port);
  if (edge.target === id) return ports.inputs.includes(edge.target_port);
  return true;
}

/** Fields tell their value also when it is the one that they have: that is no change. */
function set(graph: Graph, { id, setting, value }: Of<"set">): Graph {
  if (JSON.stringify(graph.nodes[id]?.config[setting]) === JSON.stringify(value)) return graph;
  return withNode(graph, id, (node) => {
    const { [setting]: _old, ...others } = node.config;
    return withConfig(node, value === undefined ? others : { ...node.config, [setting]: value });
  });
}

function rename(graph: Graph, { id, to }: Of<"rename">): Graph {
  if (!(id in graph.nodes) || to in graph.nodes || !NODE_ID.test(to)) return graph;
  return withRenamedIds(graph, new Map([[id, to]]));
}

function move(graph: Graph, positions: Layout): Graph {
  const moved = Object.entries(positions).filter(([id, to]) => {
    const from = graph.layout[id];
    return id in graph.nodes && (from === undefined || from.x !== to.x || from.y !== to.y);
  });
  return moved.length === 0 ? graph : { ...graph, layout: { ...graph.layout, ...Object.fromEntries(moved) } };
}

/** Another graph in its place; nodes that stay keep their position unless the new one has another. */
function rewrite(graph: Graph, next: Graph): Graph {
  if (Object.keys(next.layout).length === 0 && meaningOf(graph) === meaningOf(next)) return graph;
  const kept = Object.entries(graph.layout).filter(([id]) => id in next.nodes);
  const bare = { nodes: next.nodes, edges: [], layout: { ...Object.fromEntries(kept), ...next.layout } };
  return withFittingEdges(bare, next.edges);
}

const meaningOf = (graph: Graph): string => JSON.stringify(documentOf(graph, ""));

function withNode(graph: Graph, id: string, change: (node: Node) => Node): Graph {
  const node = graph.nodes[id];
  return node === undefined ? graph : { ...graph, nodes: { ...graph.nodes, [id]: change(node) } };
}

function without<T>(all: Readonly<Record<string, T>>, gone: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([id]) => !gone.has(id)));
}
