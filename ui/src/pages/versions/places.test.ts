import { expect, it } from "vitest";
import type { DocumentBody } from "@/api/types";
import { placesOf } from "./places";

const edge = (source: string, target: string) => ({ source, target, source_port: "out", target_port: "in" });
const document = (ids: string[], edges: ReturnType<typeof edge>[]): DocumentBody => ({
  format: 1,
  name: "p",
  nodes: ids.map((id) => ({ id, operator: "filter", config: {} })),
  edges,
});

it("keeps a layout that has every node", () => {
  const layout = { a: { x: 1, y: 2 } };
  expect(placesOf(document(["a"], []), layout)).toBe(layout);
});

it("puts nodes behind what feeds them, none on another", () => {
  const places = placesOf(document(["a", "b", "c"], [edge("a", "b"), edge("b", "c"), edge("a", "c")]), {});
  expect([places.a?.x, places.b?.x, places.c?.x]).toEqual([0, 260, 520]);
  const siblings = placesOf(document(["a", "b"], []), {});
  expect(siblings.a).not.toEqual(siblings.b);
});

it("ends on a cycle", () => {
  expect(Object.keys(placesOf(document(["a", "b"], [edge("a", "b"), edge("b", "a")]), {}))).toHaveLength(2);
});
