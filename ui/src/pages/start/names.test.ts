import { describe, expect, it } from "vitest";
import { freeName, nameProblem } from "./names";

describe("names of pipelines", () => {
  const taken = new Set(["trades", "trades-2"]);

  it("gives the first number that makes a name new", () => {
    expect(freeName("drones", taken)).toBe("drones");
    expect(freeName("trades", taken)).toBe("trades-3");
  });

  it("says why a name cannot be used", () => {
    expect(nameProblem("trades", taken)).toMatch(/already/);
    expect(nameProblem("a b", taken)).toMatch(/Letters/);
    expect(nameProblem("-a", taken)).toMatch(/first/);
    expect(nameProblem("drones.v2_x", taken)).toBeNull();
    expect(nameProblem("", taken)).toBeNull();
  });
});
