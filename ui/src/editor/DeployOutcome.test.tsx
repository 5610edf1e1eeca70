import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { DeployOutcome } from "./DeployOutcome";
import type { Deployment } from "./useDeployment";

const FAILED: Deployment = {
  version: 2,
  before: 1,
  nodes: [],
  step: "failed" as Deployment["step"],
  verdict: "failed",
  job: null,
};

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("going back to the version before", () => {
  it("offers where to begin when the server asks for it", async () => {
    const bodies: { begin: string | null; version: number }[] = [];
    vi.stubGlobal("fetch", async (_path: string, init: RequestInit) => {
      const body = JSON.parse(String(init.body)) as { begin: string | null; version: number };
      bodies.push(body);
      const refused = { code: "needs_begin", message: "the state of once would begin empty" };
      return new Response(JSON.stringify(body.begin ? {} : refused), { status: body.begin ? 200 : 409 });
    });
    const onClose = vi.fn();
    render(
      <MantineProvider>
        <QueryClientProvider client={new QueryClient()}>
          <DeployOutcome pipeline="demo" deployment={FAILED} onClose={onClose} />
        </QueryClientProvider>
      </MantineProvider>,
    );
    fireEvent.click(screen.getByText("Go back to version 1"));
    await screen.findByText("the state of once would begin empty");
    fireEvent.click(screen.getByLabelText(/^Where this pipeline is/));
    fireEvent.click(screen.getByText("Go back to version 1"));
    await vi.waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(bodies.map(({ begin }) => begin)).toEqual([null, "last-commit"]);
    expect(bodies.map(({ version }) => version)).toEqual([1, 1]);
  });
});
