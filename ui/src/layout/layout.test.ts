import { describe, expect, it } from "vitest";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import type { Graph } from "@/document/graph";
import { CHAIN } from "@/document/testing";
import { freePlace, placed, wires, withRoom } from "./placement";
import { tidy } from "./tidy";

const fan: Graph = {
  nodes: Object.fromEntries(["a", "b", "c", "d"].map((id) => [id, { id, operator: "x", config: {} }])),
  edges: ["b", "c", "d"].map((target) => ({ source: "a", target, source_port: "out", target_port: "in" })),
  layout: {},
};

function expectApart(layout: Graph["layout"]): void {
  const all = Object.values(layout);
  all.forEach((one, index) => {
    for (const other of all.slice(index + 1)) {
      const isApart =
        Math.abs(one.x - other.x) >= NODE_WIDTH_PX || Math.abs(one.y - other.y) >= NODE_HEIGHT_PX;
      expect(isApart).toBe(true);
    }
  });
}

describe("layout", () => {
  it("flows from left to right without overlaps", () => {
    const layout = tidy({ ids: Object.keys(CHAIN.nodes), edges: CHAIN.edges });
    expect(layout.a?.x).toBeLessThan(layout.b?.x ?? 0);
    expect(layout.b?.x).toBeLessThan(layout.c?.x ?? 0);
    expectApart(tidy({ ids: Object.keys(fan.nodes), edges: fan.edges }));
  });

  it("puts a node that is wired to nothing on no wire", () => {
    const lone = { id: "lone", operator: "x", config: {} };
    const layout = { a: { x: 0, y: 0 }, b: { x: 640, y: 0 } };
    const nodes = { a: { ...lone, id: "a" }, b: { ...lone, id: "b" }, lone };
    const edges = [{ source: "a", target: "b", source_port: "out", target_port: "in" }];
    const at = placed({ nodes, edges, layout }).lone;
    expect(at?.y).toBeGreaterThanOrEqual(NODE_HEIGHT_PX);
    // Nor beside its neighbour, where another wire passes.
    const free = freePlace(layout, { x: 320, y: 0 }, wires({ nodes, edges, layout }, layout));
    expect(free.y).toBeGreaterThanOrEqual(NODE_HEIGHT_PX / 2);
  });

  it("makes room for a node between two others", () => {
    const room = { ...CHAIN.layout, ...withRoom(CHAIN, CHAIN.layout, "a", "b") };
    expect((room.b?.x ?? 0) - (room.a?.x ?? 0)).toBeGreaterThanOrEqual(2 * NODE_WIDTH_PX);
    const shift = (room.b?.x ?? 0) - (CHAIN.layout.b?.x ?? 0);
    expect((room.c?.x ?? 0) - (CHAIN.layout.c?.x ?? 0)).toBe(shift);
    expect(withRoom(CHAIN, { a: { x: 0, y: 0 }, b: { x: 2000, y: 0 } }, "a", "b")).toEqual({});
  });

  it("places nodes that are wired in a circle too", () => {
    const back = { source: "d", target: "a", source_port: "out", target_port: "in" };
    const layout = placed({ ...fan, edges: [...fan.edges, back] });
    expect(Object.keys(layout).sort()).toEqual(["a", "b", "c", "d"]);
    expectApart(layout);
  });

  it("places what has no place beside its neighbours", () => {
    expectApart(placed(fan));
    expect(placed(CHAIN)).toBe(CHAIN.layout);
    const { b: _b, ...others } = CHAIN.layout;
    const again = placed({ ...CHAIN, layout: others });
    expect(again.a).toEqual(CHAIN.layout.a);
    expectApart(again);
  });
});
