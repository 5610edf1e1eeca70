import { MantineProvider } from "@mantine/core";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { useDocument } from "@/stores/documentStore";
import { type LiveJob, useMetrics } from "@/stores/metricsStore";
import { FailureBanner } from "./FailureBanner";

const AWAY = "the schema registry at r does not answer";
const JOB: LiveJob = {
  state: "running",
  error: { code: "job_failed", message: AWAY, node: null, hint: "start it", record: null },
  waitsFor: AWAY,
  nodes: {},
  edges: new Map(),
  batches: { count: 0, last_ms: 0, rows_per_second: 0 },
  points: [],
};

function shown(job: LiveJob): void {
  useDocument.setState({ pipeline: "demo" });
  useMetrics.setState({ jobs: { demo: job } });
  render(
    <MantineProvider>
      <FailureBanner />
    </MantineProvider>,
  );
}

afterEach(() => {
  cleanup();
  useMetrics.setState({ jobs: {} });
});

describe("a job that waits for something outside", () => {
  it.each(["running", "starting"] as const)("says so while it is %s, and is no failure", (state) => {
    shown({ ...JOB, state });
    expect(screen.getByRole("status").textContent).toBe(`Waits: ${AWAY}start it`);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("is a failure once it has failed", () => {
    shown({ ...JOB, state: "failed", waitsFor: null });
    expect(screen.getByRole("alert").textContent).toContain("The job failed");
  });
});
