import { describe, expect, it } from "vitest";
import { nearest } from "./focus";
import { matches } from "./matching";
import { summaryOf } from "./summary";

const LAYOUT = { a: { x: 0, y: 0 }, b: { x: 300, y: 20 }, c: { x: 300, y: 200 }, d: { x: 600, y: 0 } };

describe("arrows", () => {
  it("go to the nearest node in their direction", () => {
    expect(nearest(LAYOUT, "a", "right")).toBe("b");
    expect(nearest(LAYOUT, "b", "down")).toBe("c");
    expect(nearest(LAYOUT, "d", "left")).toBe("b");
    expect(nearest(LAYOUT, "a", "left")).toBeNull();
  });

  it("begin somewhere when nothing has the focus", () => {
    expect(nearest(LAYOUT, null, "right")).toBe("a");
    expect(nearest({}, null, "right")).toBeNull();
  });
});

describe("the palette", () => {
  it("finds by any words in any order", () => {
    const filter = {
      name: "filter",
      title: "Filter",
      summary: "Keeps the rows for which a condition holds.",
    };
    expect(matches(filter, "row keep")).toBe(true);
    expect(matches(filter, "")).toBe(true);
    expect(matches(filter, "window")).toBe(false);
  });
});

describe("a node's summary", () => {
  it("is its main setting, or what the operator does", () => {
    expect(summaryOf({ columns: ["a", "b AS c"] }, undefined)).toBe("a, b AS c");
    expect(summaryOf({}, undefined)).toBe("");
  });
});
