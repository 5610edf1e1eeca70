import { describe, expect, it } from "vitest";
import { NEWEST, searchProblem, searchQuery } from "./search";

describe("a search for messages", () => {
  it("says what the API takes", () => {
    expect(searchQuery(NEWEST)).toMatchObject({ from: "latest", partition: null, format: null });
    expect(searchQuery({ ...NEWEST, start: "offset", at: "12", partition: 3 })).toMatchObject({
      from: "offset:12",
      partition: 3,
    });
    const at = "2026-01-31T12:00";
    const iso = new Date(at).toISOString();
    expect(searchQuery({ ...NEWEST, start: "timestamp", at }).from).toBe(`timestamp:${iso}`);
  });

  it("refuses what is no offset and no time", () => {
    expect(searchProblem({ ...NEWEST, start: "offset", at: "-1" })).toMatch(/whole number/);
    expect(searchProblem({ ...NEWEST, start: "timestamp", at: "" })).toMatch(/date/);
    expect(searchProblem({ ...NEWEST, start: "offset", at: "0" })).toBeNull();
    expect(searchProblem(NEWEST)).toBeNull();
  });
});
