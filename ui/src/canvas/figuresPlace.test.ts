import { describe, expect, it } from "vitest";
import { lineAboveNodes } from "./figuresPlace";

const ends = { sourceX: 208, targetX: 240, sourceTop: 0, targetTop: 0 };

describe("the place of a wire's figures", () => {
  it("is right above nodes that stand too close", () => {
    expect(lineAboveNodes(ends, 32)).toBe(0);
    expect(lineAboveNodes({ ...ends, targetTop: -40 }, 12)).toBe(-40);
  });

  it("is around the wire where there is room for them", () => {
    expect(lineAboveNodes({ ...ends, targetX: 320 }, 32)).toBeNull();
    expect(lineAboveNodes({ ...ends, targetTop: 200 }, 132)).toBeNull();
  });

  it("is around a wire that leads back", () => {
    expect(lineAboveNodes({ ...ends, targetX: 0 }, 32)).toBeNull();
  });
});
