import { expect, it } from "vitest";
import { readHeaders } from "./headers";

it("reads one header on each line", () => {
  expect(readHeaders("a: 1\n\n trace : x:y ")).toEqual({ headers: { a: "1", trace: "x:y" }, problem: null });
  expect(readHeaders("")).toEqual({ headers: {}, problem: null });
});

it("names the line that is no header", () => {
  expect(readHeaders("a: 1\nnonsense").problem).toContain("nonsense");
  expect(readHeaders(": 1").problem).not.toBeNull();
});
