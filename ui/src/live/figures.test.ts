import { describe, expect, it } from "vitest";
import { edgeLabel, pressureOf, short, widthOf } from "./figures";

describe("figures", () => {
  it.each([
    [0, "0"],
    [0.5, "0.5"],
    [9.96, "10"],
    [950, "950"],
    [999.9, "1k"],
    [1200, "1.2k"],
    [34_000_000, "34M"],
    [-1500, "-1.5k"],
  ])("writes %d as %s", (value, text) => expect(short(value)).toBe(text));

  it("measures pressure by the time it takes to work off", () => {
    expect(pressureOf({ rate: 0, lag: null })).toBe("idle");
    expect(pressureOf({ rate: 10, lag: 50 })).toBe("flowing");
    expect(pressureOf({ rate: 1000, lag: 10_000 })).toBe("building");
    expect(pressureOf({ rate: 10, lag: 10_000 })).toBe("high");
    expect(pressureOf({ rate: 0, lag: 10_000 })).toBe("high");
  });

  it("widens with the rate, within limits", () => {
    expect(widthOf(0)).toBeLessThan(widthOf(100));
    expect(widthOf(1e12)).toBe(6);
  });

  it("leaves lag out where nothing waits", () => {
    const edge = {
      source: "a",
      target: "b",
      source_port: "out",
      target_port: "in",
      rows: 1200,
      rate: 50,
      lag: 0,
    };
    expect(edgeLabel(edge)).toBe("50/s · 1.2k");
    expect(edgeLabel({ ...edge, lag: 3400 })).toBe("50/s · 1.2k · lag 3.4k");
  });
});
