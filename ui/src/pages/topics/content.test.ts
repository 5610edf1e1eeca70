import { expect, it } from "vitest";
import { contentBlock, contentLine } from "./content";

it("shows JSON, text and nothing", () => {
  expect(contentLine({ encoding: "json", value: { a: 1 }, size: 7 })).toBe('{"a":1}');
  expect(contentBlock({ encoding: "json", value: { a: 1 }, size: 7 })).toBe('{\n  "a": 1\n}');
  expect(contentLine({ encoding: "text", value: "x", size: 1 })).toBe("x");
  expect(contentLine({ encoding: "null", value: null, size: 0 })).toBe("–");
});

it("cuts what is too long for a line, and only there", () => {
  const content = { encoding: "text" as const, value: "x".repeat(5000), size: 5000 };
  expect(contentLine(content).length).toBeLessThan(500);
  expect(contentBlock(content)).toHaveLength(5000);
});
