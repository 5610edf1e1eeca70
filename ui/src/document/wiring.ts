/** Which wires can be drawn, and why the others cannot. */
import type { Column, Operator, Port, Schema } from "@/api/types";
import { closesCircle, type Edge, type Graph, isOccupied, isSameEdge } from "./graph";

export type Catalogue = ReadonlyMap<string, Operator>;
export type Schemas = Readonly<Record<string, Schema>>;

export interface Wiring {
  graph: Graph;
  catalogue: Catalogue;
  schemas: Schemas;
}

const isNamed = (name: string) => (port: Port) => port.name === name;

/** Why the wire cannot be drawn; null if it can. */
export function refusal({ graph, catalogue, schemas }: Wiring, edge: Edge): string | null {
  const source = graph.nodes[edge.source];
  const target = graph.nodes[edge.target];
  if (source === undefined || target === undefined) return "one of its ends is gone";
  const from = catalogue.get(source.operator);
  const to = catalogue.get(target.operator);
  if (from && !from.outputs.some(isNamed(edge.source_port))) return `${from.title} gives no rows on`;
  if (to && !to.inputs.some(isNamed(edge.target_port))) return `${to.title} takes no rows in`;
  if (graph.edges.some((other) => isSameEdge(other, edge))) return "they are connected already";
  if (isOccupied(graph, edge.target, edge.target_port))
    return `the input ${edge.target_port} of ${edge.target} is taken`;
  if (closesCircle(graph, edge.source, edge.target)) return "rows would go round in a circle";
  return missingColumn(target.config, to, schemas[edge.source]);
}

/** A target whose settings name columns that the source does not have cannot read it. */
function missingColumn(
  config: Readonly<Record<string, unknown>>,
  to: Operator | undefined,
  schema: Schema | undefined,
) {
  if (to === undefined || schema === undefined || schema.columns.length === 0) return null;
  const names = new Set(schema.columns.map((column: Column) => column.name));
  for (const [setting, shape] of Object.entries(to.settings.properties ?? {})) {
    const value = config[setting];
    if (shape.format !== "column" || typeof value !== "string" || names.has(value)) continue;
    return `${to.title} reads the column ${value}, which is not among ${[...names].join(", ")}`;
  }
  return null;
}

/** The first free input of a node that the output can be wired to; null if there is none. */
export function wireTo(wiring: Wiring, source: string, sourcePort: string, target: string): Edge | null {
  const node = wiring.graph.nodes[target];
  const operator = node && wiring.catalogue.get(node.operator);
  for (const port of operator?.inputs ?? []) {
    const edge = { source, target, source_port: sourcePort, target_port: port.name };
    if (refusal(wiring, edge) === null) return edge;
  }
  return null;
}

/** Nodes that an output of `source` can be wired to now, each with the edge that would do it. */
export function targetsOf(wiring: Wiring, source: string): Edge[] {
  const node = wiring.graph.nodes[source];
  const operator = node && wiring.catalogue.get(node.operator);
  const edges: Edge[] = [];
  for (const port of operator?.outputs ?? []) {
    for (const target of Object.keys(wiring.graph.nodes)) {
      const edge = wireTo(wiring, source, port.name, target);
      if (edge !== null) edges.push(edge);
    }
  }
  return edges;
}

/** Which end of a wire is open: an output that wants a reader, an input that wants rows, or an edge to insert on. */
export type OpenEnd = "output" | "input" | "edge";

/** Operators that could stand at the open end. */
export function fitting(operators: readonly Operator[], end: OpenEnd | null): Operator[] {
  return operators.filter(({ inputs, outputs }) => {
    if (end === "output") return inputs.length > 0;
    if (end === "input") return outputs.length > 0;
    if (end === "edge") return inputs.length > 0 && outputs.length > 0;
    return true;
  });
}
