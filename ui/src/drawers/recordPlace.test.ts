import { describe, expect, it } from "vitest";
import { placeOf } from "./recordPlace";

describe("the place of a record", () => {
  it("is known where topic, partition and offset are", () => {
    const record = { topic: "t", partition: 1, offset: 7, value: "x" };
    expect(placeOf(record)).toEqual({ topic: "t", partition: 1, offset: 7 });
    expect(placeOf({ offset: 7 })).toBeNull();
    expect(placeOf(null)).toBeNull();
  });
});
