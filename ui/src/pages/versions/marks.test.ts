import { expect, it } from "vitest";
import type { Change } from "@/api/types";
import { marksOf } from "./marks";

const change = (part: Partial<Change>): Change => ({
  kind: "setting_changed",
  node: null,
  setting: null,
  edge: null,
  old: null,
  new: null,
  text: "",
  ...part,
});
const edge = { source: "a", target: "b", source_port: "out", target_port: "in" };

it("marks nodes by what happened to them, on the side where they are", () => {
  const changes = [
    change({ kind: "node_added", node: "new" }),
    change({ kind: "node_removed", node: "gone" }),
    change({ node: "kept", setting: "condition" }),
    change({ kind: "node_renamed", old: "was", new: "is" }),
  ];
  const [before, after] = [marksOf(changes, "old"), marksOf(changes, "new")];
  expect([after.node("new"), before.node("gone"), after.node("kept")]).toEqual([
    "added",
    "removed",
    "changed",
  ]);
  expect([before.node("was"), before.node("is"), after.node("is")]).toEqual(["changed", null, "changed"]);
  expect(after.node("untouched")).toBeNull();
});

it("marks edges by their ends and ports", () => {
  const marks = marksOf([change({ kind: "edge_added", edge })], "new");
  expect(marks.edge(edge)).toBe("added");
  expect(marks.edge({ ...edge, target_port: "right" })).toBeNull();
});
