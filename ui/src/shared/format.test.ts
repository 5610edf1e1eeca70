import { describe, expect, it } from "vitest";
import { bytes, moment, plural, rate } from "./format";

describe("figures", () => {
  it.each([
    [null, "–"],
    [0, "0 B"],
    [999, "999 B"],
    [1500, "1.5 kB"],
    [250_000_000, "250 MB"],
    [2e15, "2000 TB"],
  ])("writes %s bytes as %s", (value, text) => expect(bytes(value)).toBe(text));

  it.each([
    [0, "0/s"],
    [0.25, "0.3/s"],
    [60, "60/s"],
    [12_345, "12.3K/s"],
  ])("writes a rate of %s as %s", (value, text) => expect(rate(value)).toBe(text));

  it("counts in words", () => {
    expect(plural(1, "change")).toBe("1 change");
    expect(plural(2000, "change")).toBe("2,000 changes");
  });

  it("writes nothing for no time", () => expect(moment(null)).toBe("–"));
});
