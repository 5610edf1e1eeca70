import { describe, expect, it } from "vitest";
import type { Change, JobView } from "@/api/types";
import { lastVerdictOf, stepAfter, stepOf, touchedNodes, verdictOf } from "./deployProgress";

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
  it("drain what ran, switch, and verify", () => {
    const steps = [
      stepOf("running", true, false),
      stepOf("stopping", true, false),
      stepOf("stopped", true, true),
      stepOf("starting", true, true),
      stepOf("running", true, true),
    ];
    expect(steps).toEqual(["draining", "draining", "switching", "switching", "verifying"]);
  });

  it("have nothing to drain the first time", () => {
    const steps = [
      stepOf(null, false, false),
      stepOf("starting", false, false),
      stepOf("running", false, false),
    ];
    expect(steps).toEqual(["waiting", "switching", "verifying"]);
  });
});

const job = (part: Partial<JobView>): JobView => ({
  pipeline: "p",
  version: 1,
  content_hash: "",
  started_at: "",
  restarts: 0,
  signals_refused: null,
  state: "running",
  paused_by: null,
  waits_for: null,
  parameters: {},
  error: null,
  nodes: {},
  edges: [],
  batches: { count: 0, last_ms: 0, rows_per_second: 0 },
  queries: [],
  began: [],
  newer_code: null,
  ...part,
});

const query = (batch_ms: number, lag: Record<string, number> = {}): JobView["queries"][number] => ({
  name: "q",
  batch: 12,
  batch_ms,
  rows_per_second: 0,
  lag,
  nodes: [],
  signals: {},
});

describe("the verdict on a version", () => {
  it("waits for the first batch of every query", () => {
    expect(verdictOf(job({ queries: [query(3), query(0)] }))).toBeNull();
    expect(verdictOf(job({ queries: [query(3), query(1)] }))).toBe("progressed");
  });

  it("does not wait for rows that are not there", () => {
    expect(verdictOf(job({ queries: [query(0, { "t-0": 2, "t-1": 0 })] }))).toBeNull();
    expect(verdictOf(job({ queries: [query(0, { "t-0": 0, "t-1": 0 })] }))).toBe("idle");
  });

  it("follows the job where that is not running", () => {
    const queries = [query(3)];
    expect(verdictOf(job({ queries, state: "starting" }))).toBeNull();
    expect(verdictOf(job({ queries, state: "failed" }))).toBe("failed");
    expect(verdictOf(job({ queries, state: "stopped" }))).toBe("ended");
    expect(verdictOf(job({ queries, state: "paused" }))).toBe("paused");
  });
});

describe("the last verdict on a version", () => {
  it("lets go of one that gets no rows, and of one that takes long to start", () => {
    expect(lastVerdictOf(job({ queries: [query(0)] }))).toBe("rowless");
    expect(lastVerdictOf(job({ state: "starting" }))).toBe("slow");
    expect(stepAfter("rowless")).toBe("started");
  });

  it("is the one that is known, where it is", () => {
    expect(lastVerdictOf(job({ queries: [query(1)] }))).toBe("progressed");
    expect(lastVerdictOf(job({ state: "failed" }))).toBe("failed");
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
