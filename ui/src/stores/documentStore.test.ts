import { beforeEach, describe, expect, it } from "vitest";
import type { Graph } from "@/document/graph";
import { historyOf } from "@/document/history";
import { placed } from "@/layout/placement";
import { execute, presentGraph, undoLast, useDocument } from "./documentStore";

/** Two chains, as the server gives them for a pipeline that was written as text: without any place. */
const written: Graph = {
  nodes: Object.fromEntries(
    ["t", "small", "big", "out"].map((id) => [id, { id, operator: "filter", config: {} }]),
  ),
  edges: [
    { source: "t", source_port: "out", target: "small", target_port: "in" },
    { source: "t", source_port: "out", target: "big", target_port: "in" },
    { source: "small", source_port: "out", target: "out", target_port: "in" },
  ],
  layout: {},
};

describe("an edit of a graph whose nodes have no place yet", () => {
  beforeEach(() => useDocument.setState({ history: historyOf(written) }));

  it("leaves the other nodes where they were drawn", () => {
    const drawn = placed(presentGraph());
    const node = { id: "more", operator: "filter", config: {} };
    const part = { nodes: { more: node }, edges: [], layout: { more: { x: 0, y: -500 } } };
    expect(execute({ kind: "add", part, label: "add more" })).toBe(true);
    expect(presentGraph().layout).toEqual({ ...drawn, more: { x: 0, y: -500 } });
    expect(undoLast()).toBe(true);
    expect(placed(presentGraph())).toEqual(drawn);
  });

  it("changes nothing where the command does not fit", () => {
    const before = useDocument.getState().history;
    expect(execute({ kind: "remove", ids: ["none"], edges: [] })).toBe(false);
    expect(useDocument.getState().history).toBe(before);
  });

  it("leaves them there when a node goes", () => {
    const { t: _gone, ...drawn } = placed(presentGraph());
    expect(execute({ kind: "remove", ids: ["t"], edges: [] })).toBe(true);
    expect(presentGraph().layout).toEqual(drawn);
  });
});
