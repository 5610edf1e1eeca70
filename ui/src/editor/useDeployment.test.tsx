import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useDocument } from "@/stores/documentStore";
import { useDeployment } from "./useDeployment";

const LONG_ENOUGH_MS = 150_000;
const WISHES = { note: "", author: "", begin: null, reset: false, confirmed: false, truncate: false };

/** Of a pipeline that runs and never gets a row: nothing is known of what waits in its topics. */
const JOB = {
  pipeline: "demo",
  state: "running",
  paused_by: null,
  waits_for: null,
  error: null,
  queries: [{ name: "q", batch: -1, lag: {} }],
};
const DRAFT = { problems: [], changes: [], changes_from: "nothing", schemas: {}, notations: {} };

const answer = async (_path: string, init: RequestInit): Promise<Response> =>
  new Response(JSON.stringify(init.method === "POST" ? { version: { number: 1 }, draft: DRAFT } : JOB), {
    status: 200,
    headers: { "content-type": "application/json" },
  });

function deployed() {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useDeployment("demo"), { wrapper });
  act(() => result.current.begin(WISHES));
  return result;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", vi.fn(answer));
  useDocument.setState({ pipeline: "demo", saveState: "saved" });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("a deploy", () => {
  it("does not wait for ever for rows that do not come", async () => {
    const result = deployed();
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    expect(result.current.deployment).toMatchObject({ version: 1, step: "verifying", verdict: null });
    await act(() => vi.advanceTimersByTimeAsync(LONG_ENOUGH_MS));
    expect(result.current.deployment).toMatchObject({ step: "started", verdict: "rowless" });
    const looks = vi.mocked(fetch).mock.calls.length;
    await act(() => vi.advanceTimersByTimeAsync(LONG_ENOUGH_MS));
    expect(vi.mocked(fetch).mock.calls.length).toBe(looks);
  });
});
