import { describe, expect, it } from "vitest";
import { apply } from "./apply";
import type { Graph } from "./graph";
import { CATALOGUE, CHAIN, OPERATORS } from "./testing";
import { fitting, refusal, targetsOf, type Wiring } from "./wiring";

const wire = (source: string, target: string, target_port = "in") => ({
  source,
  target,
  source_port: "out",
  target_port,
});

const GRAPH: Graph = apply(CHAIN, {
  kind: "add",
  part: {
    nodes: {
      j: { id: "j", operator: "join", config: {} },
      w: { id: "w", operator: "window", config: { time: "ts" } },
    },
    edges: [],
    layout: {},
  },
});
const WIRING: Wiring = { graph: GRAPH, catalogue: CATALOGUE, schemas: {} };

describe("wires", () => {
  it.each([
    [wire("c", "w"), "preview gives no rows on"],
    [wire("b", "a"), "topic takes no rows in"],
    [wire("a", "b"), "they are connected already"],
    [wire("a", "c"), "the input in of c is taken"],
    [wire("a", "gone"), "one of its ends is gone"],
    [wire("j", "j", "left"), "rows would go round in a circle"],
  ])("refuses %o", (edge, reason) => {
    expect(refusal(WIRING, edge)).toBe(reason);
  });

  it("refuses a target that reads a column which is not there", () => {
    const schemas = {
      b: { columns: [{ name: "x", type: "INT" }] },
      a: { columns: [{ name: "ts", type: "TIMESTAMP" }] },
    };
    expect(refusal({ ...WIRING, schemas }, wire("b", "w"))).toContain("reads the column ts");
    expect(refusal({ ...WIRING, schemas }, wire("a", "w"))).toBeNull();
  });

  it("offers only nodes that can be connected", () => {
    expect(targetsOf(WIRING, "b").map(({ target, target_port }) => `${target}.${target_port}`)).toEqual([
      "j.left",
      "w.in",
    ]);
    expect(targetsOf(WIRING, "c")).toEqual([]);
  });

  it("offers only operators that fit the open end", () => {
    const names = (end: Parameters<typeof fitting>[1]) => fitting(OPERATORS, end).map(({ name }) => name);
    expect(names("output")).toEqual(["filter", "window", "join", "preview"]);
    expect(names("input")).toEqual(["topic", "filter", "window", "join"]);
    expect(names("edge")).toEqual(["filter", "window", "join"]);
    expect(names(null)).toHaveLength(5);
  });
});
