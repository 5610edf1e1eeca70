import { describe, expect, it } from "vitest";
import { topicNameProblem } from "./names";

describe("names of topics", () => {
  it("says in words why one cannot be used", () => {
    expect(topicNameProblem("my topic")).toMatch(/no spaces/);
    expect(topicNameProblem("..")).toMatch(/dots/);
    expect(topicNameProblem("x".repeat(250))).toMatch(/249/);
    expect(topicNameProblem("drones.v2_x-1")).toBeNull();
    expect(topicNameProblem("")).toBeNull();
  });
});
