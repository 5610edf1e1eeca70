/** Random commands over random graphs, for the property tests. */
import fc from "fast-check";
import type { Config, Operator } from "@/api/types";
import { type Alignment, aligned } from "./align";
import type { Command } from "./commands";
import { type Edge, EMPTY_GRAPH, type Graph } from "./graph";

const IDS = ["a", "b", "c", "d", "e", "f"];
const PORTS_IN = ["in", "left", "right"];
const PORTS_OUT = ["out", "late"];

const id = fc.constantFrom(...IDS);
const newId = fc.constantFrom(...IDS, "g", "h", "not an id");
const operator = fc.constantFrom("topic", "filter", "join", "preview");
const config: fc.Arbitrary<Config> = fc.dictionary(
  fc.constantFrom("x", "y"),
  fc.oneof(fc.integer(), fc.string()),
);
const position = fc.record({
  x: fc.integer({ min: -500, max: 500 }),
  y: fc.integer({ min: -500, max: 500 }),
});
const edge: fc.Arbitrary<Edge> = fc.record({
  source: id,
  target: id,
  source_port: fc.constantFrom(...PORTS_OUT),
  target_port: fc.constantFrom(...PORTS_IN),
});
const part: fc.Arbitrary<Graph> = fc
  .record({ ids: fc.uniqueArray(id, { maxLength: 3 }), operator, config, position, edges: fc.array(edge) })
  .map(({ ids, operator: name, config: settings, position: place, edges }) => ({
    nodes: Object.fromEntries(ids.map((one) => [one, { id: one, operator: name, config: settings }])),
    layout: Object.fromEntries(ids.map((one) => [one, place])),
    edges: edges.filter(({ source, target }) => ids.includes(source) && ids.includes(target)),
  }));
const ports = fc.record({ inputs: fc.subarray(PORTS_IN), outputs: fc.subarray(PORTS_OUT) });
const ALIGNMENTS: Alignment[] = ["left", "top", "center", "middle", "horizontal", "vertical"];

/** A command that was thought out for the graph at hand, or for none at all. */
export const anyCommand: fc.Arbitrary<(graph: Graph) => Command> = fc.oneof(
  part.map((made) => () => ({ kind: "add", part: made }) as const),
  part.map((made) => () => ({ kind: "add", part: made }) as const),
  fc
    .record({ ids: fc.uniqueArray(id, { maxLength: 2 }), edges: fc.array(edge, { maxLength: 2 }) })
    .map((gone) => () => ({ kind: "remove", ...gone }) as const),
  fc.uniqueArray(id, { maxLength: 2 }).map((ids) => () => ({ kind: "remove-and-reconnect", ids }) as const),
  fc
    .record({ pick: fc.nat(), id: newId, operator, config, position, wild: edge })
    .map(({ pick, wild, ...rest }) => (graph: Graph) => {
      const found = graph.edges[pick % Math.max(1, graph.edges.length)] ?? wild;
      return { kind: "insert", edge: found, input: "in", output: "out", ...rest } as const;
    }),
  fc.record({ pick: fc.nat(), id, position, wild: edge }).map(({ pick, wild, ...rest }) => (graph: Graph) => {
    const found = graph.edges[pick % Math.max(1, graph.edges.length)] ?? wild;
    return { kind: "splice", edge: found, input: "in", output: "out", ...rest } as const;
  }),
  fc.record({ id, operator, config, ports }).map((made) => () => ({ kind: "replace", ...made }) as const),
  edge.map((made) => () => ({ kind: "connect", edge: made }) as const),
  edge.map((made) => () => ({ kind: "connect", edge: made }) as const),
  fc
    .record({ id, setting: fc.constantFrom("x", "y"), value: fc.option(fc.integer(), { nil: undefined }) })
    .map((made) => () => ({ kind: "set", ...made }) as const),
  fc.record({ id, config }).map((made) => () => ({ kind: "configure", ...made }) as const),
  fc.record({ id, to: newId }).map((made) => () => ({ kind: "rename", ...made }) as const),
  fc.dictionary(id, position).map((positions) => () => ({ kind: "move", positions }) as const),
  fc.record({ ids: fc.uniqueArray(id), alignment: fc.constantFrom(...ALIGNMENTS) }).map(
    ({ ids, alignment }) =>
      (graph: Graph) =>
        ({ kind: "move", positions: aligned(graph, ids, alignment) }) as const,
  ),
  part.map((graph) => () => ({ kind: "rewrite", graph, label: "edit as SQL" }) as const),
);

export const anyCommands = fc.array(anyCommand, { maxLength: 40 });

/** A chain `topic → filter → preview` to start from. */
export const CHAIN: Graph = {
  ...EMPTY_GRAPH,
  nodes: {
    a: { id: "a", operator: "topic", config: { topic: "telemetry" } },
    b: { id: "b", operator: "filter", config: { condition: "x > 1" } },
    c: { id: "c", operator: "preview", config: {} },
  },
  edges: [
    { source: "a", target: "b", source_port: "out", target_port: "in" },
    { source: "b", target: "c", source_port: "out", target_port: "in" },
  ],
  layout: { a: { x: 0, y: 0 }, b: { x: 250, y: 40 }, c: { x: 500, y: 0 } },
};

const port = (name: string) => ({ name, summary: "", required: true });

export function operatorOf(
  name: string,
  inputs: string[],
  outputs: string[],
  settings: Operator["settings"] = {},
): Operator {
  const kind = inputs.length === 0 ? "source" : outputs.length === 0 ? "sink" : "relational";
  return {
    name,
    title: name,
    summary: `${name} of rows`,
    kind,
    inputs: inputs.map(port),
    outputs: outputs.map(port),
    guarantees: "",
    example: "",
    positional: null,
    stateful: false,
    settings,
  };
}

export const OPERATORS: Operator[] = [
  operatorOf("topic", [], ["out"]),
  operatorOf("filter", ["in"], ["out"]),
  operatorOf("window", ["in"], ["out"], { properties: { time: { type: "string", format: "column" } } }),
  operatorOf("join", ["left", "right"], ["out"]),
  operatorOf("preview", ["in"], []),
];
export const CATALOGUE = new Map(OPERATORS.map((operator) => [operator.name, operator]));
