import { describe, expect, it } from "vitest";
import { aligned } from "./align";
import { apply } from "./apply";
import { documentOf, type Edge, edgeKey, type Graph, graphOf, subgraph } from "./graph";
import { freshId, withFreshIds } from "./names";
import { CHAIN } from "./testing";

const wire = (source: string, target: string, target_port = "in"): Edge => ({
  source,
  target,
  source_port: "out",
  target_port,
});
const edgesOf = (graph: Graph) => graph.edges.map(edgeKey).sort();

describe("commands", () => {
  it("delete and reconnect joins the neighbours", () => {
    const graph = apply(CHAIN, { kind: "remove-and-reconnect", ids: ["b"] });
    expect(edgesOf(graph)).toEqual(["a.out>c.in"]);
    expect(graph.layout).not.toHaveProperty("b");
  });

  it("delete and reconnect of two in a row joins what is left", () => {
    const longer = apply(CHAIN, {
      kind: "insert",
      edge: wire("b", "c"),
      id: "d",
      operator: "filter",
      config: {},
      input: "in",
      output: "out",
      position: { x: 1, y: 1 },
    });
    expect(edgesOf(longer)).toEqual(["a.out>b.in", "b.out>d.in", "d.out>c.in"]);
    expect(edgesOf(apply(longer, { kind: "remove-and-reconnect", ids: ["b", "d"] }))).toEqual(["a.out>c.in"]);
  });

  it("a free node is spliced into an edge, a connected one is not", () => {
    const part = { nodes: { d: { id: "d", operator: "filter", config: {} } }, edges: [], layout: {} };
    const graph = apply(CHAIN, { kind: "add", part });
    const through = {
      kind: "splice",
      edge: wire("a", "b"),
      input: "in",
      output: "out",
      position: { x: 9, y: 9 },
    } as const;
    const spliced = apply(graph, { ...through, id: "d" });
    expect(edgesOf(spliced)).toEqual(["a.out>d.in", "b.out>c.in", "d.out>b.in"]);
    expect(spliced.layout.d).toEqual({ x: 9, y: 9 });
    expect(apply(graph, { ...through, id: "c" })).toBe(graph);
  });

  it("delete takes the edges along", () => {
    expect(edgesOf(apply(CHAIN, { kind: "remove", ids: ["b"], edges: [] }))).toEqual([]);
    expect(edgesOf(apply(CHAIN, { kind: "remove", ids: [], edges: [wire("a", "b")] }))).toEqual([
      "b.out>c.in",
    ]);
  });

  it("a setting that gets the value it has is no change", () => {
    const set = (value: string | undefined) => ({ kind: "set", id: "b", setting: "note", value }) as const;
    expect(apply(CHAIN, set(undefined))).toBe(CHAIN);
    const noted = apply(CHAIN, set("x"));
    expect(noted.nodes.b?.config).toMatchObject({ note: "x" });
    expect(apply(noted, set("x"))).toBe(noted);
  });

  it("refuses a circle, a taken input and an end that is gone", () => {
    for (const edge of [wire("c", "a"), wire("a", "c"), wire("a", "gone"), wire("a", "a", "other")]) {
      expect(apply(CHAIN, { kind: "connect", edge })).toBe(CHAIN);
    }
  });

  it("replace keeps id and fitting edges, and drops the others", () => {
    const ports = { inputs: ["in"], outputs: ["other"] };
    const graph = apply(CHAIN, { kind: "replace", id: "b", operator: "window", config: {}, ports });
    expect(graph.nodes.b?.operator).toBe("window");
    expect(edgesOf(graph)).toEqual(["a.out>b.in"]);
  });

  it("rename keeps edges and position", () => {
    const graph = apply(CHAIN, { kind: "rename", id: "b", to: "low" });
    expect(edgesOf(graph)).toEqual(["a.out>low.in", "low.out>c.in"]);
    expect(graph.layout.low).toEqual(CHAIN.layout.b);
    expect(apply(CHAIN, { kind: "rename", id: "b", to: "c" })).toBe(CHAIN);
    expect(apply(CHAIN, { kind: "rename", id: "b", to: "no id" })).toBe(CHAIN);
  });

  it("sets and unsets a setting", () => {
    const set = apply(CHAIN, { kind: "set", id: "c", setting: "limit", value: 5 });
    expect(set.nodes.c?.config).toEqual({ limit: 5 });
    expect(apply(set, { kind: "set", id: "c", setting: "limit", value: undefined }).nodes.c?.config).toEqual(
      {},
    );
  });

  it("rewrite with the same meaning changes nothing", () => {
    const same = {
      ...CHAIN,
      nodes: { c: CHAIN.nodes.c, b: CHAIN.nodes.b, a: CHAIN.nodes.a },
      layout: {},
    } as Graph;
    expect(apply(CHAIN, { kind: "rewrite", graph: same, label: "edit as sql" })).toBe(CHAIN);
  });

  it("rewrite keeps the positions of nodes that stay", () => {
    const next = { ...subgraph(CHAIN, new Set(["a", "b"])), layout: {} };
    expect(apply(CHAIN, { kind: "rewrite", graph: next, label: "edit as SQL" }).layout).toEqual({
      a: CHAIN.layout.a,
      b: CHAIN.layout.b,
    });
  });
});

describe("documents", () => {
  it("survive the way to the server and back", () => {
    expect(graphOf(documentOf(CHAIN, "demo"), { ...CHAIN.layout })).toEqual(CHAIN);
  });

  it("pasted twice get ids of their own", () => {
    const once = withFreshIds(CHAIN, CHAIN.nodes);
    expect(Object.keys(once.nodes)).toEqual(["a_2", "b_2", "c_2"]);
    const both = apply(CHAIN, { kind: "add", part: once });
    expect(both.edges).toHaveLength(4);
    expect(Object.keys(withFreshIds(once, both.nodes).nodes)).toEqual(["a_3", "b_3", "c_3"]);
  });

  it("name new nodes after their operator", () => {
    expect(freshId({}, "tumbling-window")).toBe("tumbling_window_1");
    expect(freshId({ filter_1: { id: "filter_1", operator: "filter", config: {} } }, "filter")).toBe(
      "filter_2",
    );
  });
});

describe("align", () => {
  it("puts nodes on one line, or at even distances", () => {
    expect(aligned(CHAIN, ["a", "b"], "top").b).toEqual({ x: 250, y: 0 });
    expect(aligned(CHAIN, ["a", "c"], "left").c).toEqual({ x: 0, y: 0 });
    expect(aligned(CHAIN, ["a", "b", "c"], "horizontal").b).toEqual({ x: 250, y: 40 });
    expect(aligned(CHAIN, ["a", "gone"], "left")).toEqual({ a: { x: 0, y: 0 } });
  });
});
