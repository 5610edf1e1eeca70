import { describe, expect, it } from "vitest";
import { parametersOf } from "./signalParameters";

describe("parameters of a signal", () => {
  it("are an object, or none", () => {
    expect(parametersOf('{"length": 3}')).toEqual({ length: 3 });
    expect(parametersOf("  ")).toEqual({});
  });

  it.each(["[1]", "3", "null", "{length: 3}"])("are not %s", (text) => {
    expect(parametersOf(text)).toBeNull();
  });
});
