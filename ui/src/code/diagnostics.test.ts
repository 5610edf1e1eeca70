import { Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { diagnosticsIn } from "./diagnostics";

const DOC = Text.of(["SELECT a", "FORM b"]);
const at = (line: number, column: number) => {
  const [found] = diagnosticsIn(DOC, [{ line, column, message: "no" }]);
  return DOC.sliceString(found?.from ?? 0, found?.to ?? 0);
};

describe("marks", () => {
  it("underline the word at the place", () => expect(at(2, 1)).toBe("FORM"));
  it("underline the last sign for a place at the end", () => expect(at(2, 7)).toBe("b"));
  it("stay inside the text", () => expect(at(99, 99)).toBe("b"));
});
