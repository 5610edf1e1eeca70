import { describe, expect, it } from "vitest";
import type { Change } from "@/api/types";
import { stepOf, touchedNodes } from "./deployProgress";

const change = (part: Partial<Change>): Change => ({
  kind: "node_added",
  node: null,
  setting: null,
  edge: null,
  old: null,
  new: null,
  text: "",
  ...part,
});

describe("the steps of a deploy", () => {
  it("drain what ran, switch, and run", () => {
    const steps = [
      stepOf("running", true, false),
      stepOf("stopping", true, false),
      stepOf("stopped", true, true),
      stepOf("starting", true, true),
      stepOf("running", true, true),
    ];
    expect(steps).toEqual(["draining", "draining", "switching", "switching", "running"]);
  });

  it("have nothing to drain the first time", () => {
    const steps = [
      stepOf(null, false, false),
      stepOf("starting", false, false),
      stepOf("running", false, false),
    ];
    expect(steps).toEqual(["waiting", "switching", "running"]);
  });
});

describe("the nodes that a deploy touches", () => {
  it("are those that changed, each once, with both ends of a wire", () => {
    const edge = { source: "b", target: "c", source_port: "out", target_port: "in" };
    const changes = [change({ node: "a" }), change({ node: "a" }), change({ kind: "edge_added", edge })];
    expect(touchedNodes(changes, ["a", "b", "c", "d"])).toEqual(["a", "b", "c"]);
  });

  it("are all where nothing changed in meaning", () => {
    expect(touchedNodes([], ["a", "b"])).toEqual(["a", "b"]);
  });
});
