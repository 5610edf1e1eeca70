import { describe, expect, it } from "vitest";
import { wayIntoView } from "./useReveal";

const VIEW = { width: 800, height: 600 };
const AT_REST = { x: 0, y: 0, zoom: 1 };

describe("the view", () => {
  it("stays where the whole node is seen", () => {
    expect(wayIntoView(AT_REST, { x: 100, y: 100 }, VIEW, false)).toEqual({ x: 0, y: 0 });
  });

  it("moves just as far as is needed", () => {
    expect(wayIntoView(AT_REST, { x: 700, y: -40 }, VIEW, false)).toEqual({ x: -132, y: 64 });
  });

  it("does not move under the mouse", () => {
    expect(wayIntoView(AT_REST, { x: 690, y: 100 }, VIEW, true)).toEqual({ x: 0, y: 0 });
  });

  it("moves where a panel covers the place of the mouse", () => {
    expect(wayIntoView(AT_REST, { x: 760, y: 100 }, VIEW, true)).toEqual({ x: -192, y: 0 });
  });

  it("shows the beginning of what is wider than the view", () => {
    const narrow = { width: 200, height: 600 };
    expect(wayIntoView(AT_REST, { x: 0, y: 100 }, narrow, false)).toEqual({ x: 24, y: 0 });
    expect(wayIntoView(AT_REST, { x: 60, y: 100 }, narrow, false)).toEqual({ x: -36, y: 0 });
  });
});
