import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiProblem } from "@/api/problem";
import { StartVersion } from "./StartVersion";

const REFUSED = new ApiProblem(409, {
  code: "needs_begin",
  message: "once would begin empty",
  hint: "--begin latest",
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("starting again after a refusal", () => {
  it("asks where to begin first, and starts the version that ran last from there", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", async (_path: string, init: RequestInit) => {
      bodies.push(JSON.parse(String(init.body)));
      return new Response("{}", { status: 200 });
    });
    const onDone = vi.fn();
    render(
      <MantineProvider>
        <QueryClientProvider client={new QueryClient()}>
          <StartVersion
            pipeline="demo"
            version={null}
            label="Start"
            icon={null}
            refused={REFUSED}
            onDone={onDone}
          />
        </QueryClientProvider>
      </MantineProvider>,
    );
    const button = screen.getByRole("button", { name: "Start" }) as HTMLButtonElement;
    expect(button.disabled).toBe(true);
    screen.getByText("once would begin empty");
    // A question, and its answers are the choices below: not a failure with options of the command line.
    expect(screen.queryByText(/--begin/)).toBeNull();
    expect(screen.queryByText(/was not started/)).toBeNull();
    fireEvent.click(screen.getByLabelText(/^At the end of the topics/));
    fireEvent.click(button);
    await vi.waitFor(() => expect(onDone).toHaveBeenCalled());
    expect(bodies).toEqual([{ version: null, begin: "latest", reset: false }]);
  });
});
