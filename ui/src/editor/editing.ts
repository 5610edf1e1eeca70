/** Edits as people mean them, made of commands. Each is one step of undo. */
import type { Operator, Position } from "@/api/types";
import { type Alignment, aligned, NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { type Edge, edgeKey, type Graph, inputsOf, outputsOf, reachable } from "@/document/graph";
import { freshId, withFreshIds } from "@/document/names";
import type { Catalogue } from "@/document/wiring";
import { wireTo } from "@/document/wiring";
import { freePlace, placed, wires, withRoom } from "@/layout/placement";
import { COLUMN_GAP_PX, GRID_PX, onGrid } from "@/layout/tidy";
import { tidyInWorker } from "@/layout/tidyInWorker";
import { execute, presentGraph, useDocument } from "@/stores/documentStore";
import { type Adding, selectNodes, selectNothing, useUi } from "@/stores/uiStore";

export const edgeByKey = (key: string | null): Edge | undefined =>
  key === null ? undefined : presentGraph().edges.find((edge) => edgeKey(edge) === key);

export const selectedIds = (): string[] =>
  [...useUi.getState().nodes].filter((id) => id in presentGraph().nodes);
const onlySelected = (): string | null => {
  const ids = selectedIds();
  return ids.length === 1 ? (ids[0] ?? null) : null;
};
export const selectedNode = onlySelected;

/** Carries out what the picker was opened for; the new node is selected. */
export function addOperator(adding: Adding, operator: Operator, catalogue: Catalogue): void {
  if (adding.replaces !== undefined) replaceNode(adding.replaces, operator);
  else if (adding.edge !== undefined) insertOnEdge(adding.edge, operator, adding.position);
  else addNode(adding, operator, catalogue);
}

function addNode(adding: Adding, operator: Operator, catalogue: Catalogue): void {
  const graph = presentGraph();
  const id = freshId(graph.nodes, operator.name);
  const layout = placed(graph);
  const position = freePlace(layout, adding.position ?? besides(graph, adding), wires(graph, layout));
  const node = { id, operator: operator.name, config: {} };
  const grown: Graph = { ...graph, nodes: { ...graph.nodes, [id]: node } };
  const edge = wireOf(adding, id, grown, catalogue);
  const part = { nodes: { [id]: node }, edges: edge ? [edge] : [], layout: { [id]: position } };
  if (execute({ kind: "add", part, label: `add ${id}` })) selectNodes([id]);
}

function besides(graph: Graph, { from, end }: Adding): Position {
  const at = from && placed(graph)[from.node];
  if (!at) return { x: 0, y: 0 };
  const step = NODE_WIDTH_PX + COLUMN_GAP_PX;
  return { x: end === "input" ? at.x - step : at.x + step, y: at.y };
}

/** The wire between the new node and the port that it was dragged from. */
function wireOf({ from, end }: Adding, id: string, graph: Graph, catalogue: Catalogue): Edge | null {
  if (!from) return null;
  const wiring = { graph, catalogue, schemas: useDocument.getState().told.schemas };
  if (end !== "input") return wireTo(wiring, from.node, from.port, id);
  const output = catalogue.get(graph.nodes[id]?.operator ?? "")?.outputs[0];
  return output ? { source: id, source_port: output.name, target: from.node, target_port: from.port } : null;
}

export function insertOnEdge(edge: Edge, operator: Operator, position: Position | null): void {
  const [input] = operator.inputs;
  const [output] = operator.outputs;
  if (!input || !output) return;
  const graph = presentGraph();
  const id = freshId(graph.nodes, operator.name);
  const place = between(graph, edge, position);
  const inserted = execute({
    kind: "insert",
    edge,
    id,
    operator: operator.name,
    config: {},
    input: input.name,
    output: output.name,
    ...place,
  });
  if (inserted) selectNodes([id]);
}

/** A node that was dragged onto an edge, if it can stand there. True if it does now. */
export function spliceInto(edge: Edge, id: string, position: Position, catalogue: Catalogue): boolean {
  const operator = catalogue.get(presentGraph().nodes[id]?.operator ?? "");
  const [input] = operator?.inputs ?? [];
  const [output] = operator?.outputs ?? [];
  if (!input || !output) return false;
  return execute({ kind: "splice", edge, id, input: input.name, output: output.name, position });
}

/** A place between the ends of an edge, where it was dropped if that is free; what follows moves on to make room. */
function between(graph: Graph, { source, target }: Edge, dropped: Position | null) {
  const before = placed(graph);
  const moved = withRoom(graph, before, source, target) ?? {};
  const layout = { ...before, ...moved };
  const one = layout[source] ?? { x: 0, y: 0 };
  const other = layout[target] ?? one;
  const middle = { x: onGrid((one.x + other.x) / 2), y: onGrid((one.y + other.y) / 2) };
  return {
    position: freePlace(layout, dropped && Object.keys(moved).length === 0 ? dropped : middle),
    moved,
  };
}

/** Settings that the new operator has as well are kept. */
function replaceNode(id: string, operator: Operator): void {
  const node = presentGraph().nodes[id];
  if (!node) return;
  const known = operator.settings.properties ?? {};
  const config = Object.fromEntries(Object.entries(node.config).filter(([setting]) => setting in known));
  const ports = {
    inputs: operator.inputs.map(({ name }) => name),
    outputs: operator.outputs.map(({ name }) => name),
  };
  execute({ kind: "replace", id, operator: operator.name, config, ports });
}

export function deleteSelected(): void {
  const edge = edgeByKey(useUi.getState().edge);
  if (execute({ kind: "remove", ids: selectedIds(), edges: edge ? [edge] : [] })) selectNothing();
}

export function deleteAndReconnect(): void {
  if (execute({ kind: "remove-and-reconnect", ids: selectedIds() })) selectNothing();
}

export function connect(edge: Edge): void {
  execute({ kind: "connect", edge });
}

/** Adds a part of a pipeline beside what is there; its nodes are selected. */
export function paste(part: Graph, label: string): void {
  const graph = presentGraph();
  const fresh = withFreshIds({ ...part, layout: placed(part) }, graph.nodes);
  const all = Object.values(placed(graph));
  const bottom = all.length > 0 ? Math.max(...all.map(({ y }) => y)) + NODE_HEIGHT_PX + 5 * GRID_PX : 0;
  const top = Math.min(...Object.values(fresh.layout).map(({ y }) => y));
  const layout = Object.fromEntries(
    Object.entries(fresh.layout).map(([id, at]) => [id, { x: at.x, y: at.y - top + bottom }]),
  );
  if (execute({ kind: "add", part: { ...fresh, layout }, label })) selectNodes(Object.keys(fresh.nodes));
}

export function align(alignment: Alignment): void {
  const graph = presentGraph();
  const positions = aligned({ ...graph, layout: placed(graph) }, selectedIds(), alignment);
  execute({ kind: "move", positions, label: "align" });
}

export function nudge(dx: number, dy: number): void {
  const layout = placed(presentGraph());
  const moved = selectedIds().flatMap((id) => {
    const at = layout[id];
    return at ? [[id, { x: at.x + dx * GRID_PX, y: at.y + dy * GRID_PX }] as const] : [];
  });
  execute({ kind: "move", positions: Object.fromEntries(moved) });
}

/** Tidies the whole graph; edits made meanwhile are kept. The view is fitted to what has moved. */
export async function tidyAll(fitView: () => void): Promise<void> {
  const positions = await tidyInWorker(presentGraph());
  execute({ kind: "move", positions, label: "tidy" });
  // React Flow knows the new places when they are drawn.
  requestAnimationFrame(() => requestAnimationFrame(fitView));
}

export function selectAlong(direction: "up" | "down"): void {
  const graph = presentGraph();
  const ids = selectedIds();
  selectNodes(new Set(ids.flatMap((id) => [id, ...reachable(graph, id, direction)])));
}

export const selectAll = (): void => selectNodes(Object.keys(presentGraph().nodes));

/** The edge to look at for a node: what leaves it, or what comes into a sink. */
export function edgeToWatch(id: string): Edge | undefined {
  const graph = presentGraph();
  return outputsOf(graph, id)[0] ?? inputsOf(graph, id)[0];
}
