import { beforeEach, describe, expect, it } from "vitest";
import type { JobEvent, MetricsTick } from "@/api/types";
import { EVENTS_MAX, noteEvents, noteTick, POINTS_MAX, useMetrics } from "./metricsStore";

const tick = (timeMs: number, rate: number, lag: number | null): MetricsTick => ({
  time_ms: timeMs,
  jobs: {
    demo: {
      state: "running",
      paused_by: null,
      waits_for: null,
      error: null,
      nodes: {
        a: { rows_in: 0, rows_out: 10, rows_bad: 0, rows_late: 0, rate, state_bytes: null },
        b: { rows_in: 10, rows_out: 10, rows_bad: 0, rows_late: 0, rate: 1, state_bytes: null },
      },
      edges: [{ source: "a", target: "b", source_port: "out", target_port: "in", rows: 10, rate, lag }],
      batches: { count: 1, last_ms: 5, rows_per_second: 10 },
    },
  },
  notices: [],
});

const event = (number: number): JobEvent => ({
  number,
  time_ms: number,
  pipeline: "demo",
  kind: "progress",
  node: null,
  details: {},
});

const job = () => useMetrics.getState().jobs.demo;

beforeEach(() => useMetrics.setState({ jobs: {}, notices: [], events: {}, missed: 0 }));

describe("live figures", () => {
  it("are found by edge, and summed over the sources", () => {
    noteTick(tick(1, 50, 7));
    expect(job()?.edges.get("a.out>b.in")?.rate).toBe(50);
    expect(job()?.points).toEqual([{ timeMs: 1, rate: 50, lag: 7, batchMs: 5 }]);
  });

  it("keep a limited past, and forget jobs that are gone", () => {
    for (let time = 0; time < POINTS_MAX + 5; time += 1) noteTick(tick(time, 1, null));
    expect(job()?.points).toHaveLength(POINTS_MAX);
    noteTick({ time_ms: 1, jobs: {}, notices: [] });
    expect(job()).toBeUndefined();
  });

  it("show what is wrong with the machine until it is over", () => {
    const full = { code: "disk", message: "the disk is full", hint: null, since_ms: 1 };
    noteTick({ ...tick(1, 1, null), notices: [full] });
    const shown = useMetrics.getState().notices;
    expect(shown).toEqual([full]);
    noteTick({ ...tick(2, 1, null), notices: [{ ...full }] });
    expect(useMetrics.getState().notices).toBe(shown);
    noteTick(tick(3, 1, null));
    expect(useMetrics.getState().notices).toEqual([]);
  });

  it("take each event once, in order, up to a limit", () => {
    noteEvents("demo", [event(3), event(1)]);
    noteEvents("demo", [event(2), event(3)]);
    expect(useMetrics.getState().events.demo?.map(({ number }) => number)).toEqual([1, 2, 3]);
    noteEvents(
      "demo",
      Array.from({ length: EVENTS_MAX + 10 }, (_none, index) => event(index + 10)),
    );
    expect(useMetrics.getState().events.demo).toHaveLength(EVENTS_MAX);
  });
});
