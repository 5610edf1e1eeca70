import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MessageBrowser } from "./MessageBrowser";
import type { TopicView } from "./types";

const TOTAL = 1000;
const STEP = 100;
const WAIT = { timeout: 20_000 };

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("a search through a large topic", () => {
  it("shows how far it is, stops when asked, and goes on from there", async () => {
    const cursors: number[] = [];
    /** Lets one more request be answered. */
    let answer: () => void = () => {};
    vi.stubGlobal("fetch", async (path: string) => {
      const from = Number(new URL(path, "http://here").searchParams.get("cursor") ?? 0);
      cursors.push(from);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      const end = from + STEP;
      const page = {
        messages: [],
        next: end < TOTAL ? `${end}` : null,
        is_complete: end >= TOTAL,
        scanned: STEP,
        remaining: TOTAL - end,
        took_ms: 1,
      };
      return new Response(JSON.stringify(page), { status: 200 });
    });
    render(
      <MantineProvider>
        <QueryClientProvider client={new QueryClient()}>
          <MessageBrowser topic={{ name: "t", partitions: [{ id: 0 }] } as unknown as TopicView} />
        </QueryClientProvider>
      </MantineProvider>,
    );
    const asked = (times: number) => vi.waitFor(() => expect(cursors.length).toBe(times), WAIT);
    await asked(1);
    answer();
    await asked(2);
    answer();
    await asked(3);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("20");
    screen.getByText(/0 messages of 200 looked at.*800 to go/);
    fireEvent.click(screen.getByText("Stop the search"));
    answer();
    await screen.findByText(/0 messages of 300 looked at/, {}, WAIT);
    fireEvent.click(screen.getByText("Continue"));
    await asked(4);
    expect(cursors).toEqual([0, 100, 200, 300]);
  }, 60_000);
});
