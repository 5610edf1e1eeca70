import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closesCircle, edgeKey, type Graph } from "./graph";
import { historyOf, perform, redo, redoLabel, STEPS_MAX, undo, undoLabel } from "./history";
import { anyCommand, anyCommands, CHAIN } from "./testing";

function expectWellFormed(graph: Graph): void {
  const ids = new Set(Object.keys(graph.nodes));
  for (const [id, node] of Object.entries(graph.nodes)) expect(node.id).toBe(id);
  for (const edge of graph.edges) expect(ids.has(edge.source) && ids.has(edge.target)).toBe(true);
  for (const id of Object.keys(graph.layout)) expect(ids.has(id)).toBe(true);
  const inputs = graph.edges.map((edge) => `${edge.target}.${edge.target_port}`);
  expect(new Set(inputs).size).toBe(inputs.length);
  expect(new Set(graph.edges.map(edgeKey)).size).toBe(graph.edges.length);
  for (const edge of graph.edges) {
    const others = { ...graph, edges: graph.edges.filter((other) => other !== edge) };
    expect(closesCircle(others, edge.source, edge.target)).toBe(false);
  }
}

describe("the command log", () => {
  it("undoes and does again every command", () => {
    fc.assert(
      fc.property(anyCommands, anyCommand, (commands, make) => {
        const before = commands.reduce(
          (history, next) => perform(history, next(history.present)),
          historyOf(CHAIN),
        );
        const after = perform(before, make(before.present));
        if (after === before) return;
        const back = undo(after);
        const again = redo(back);
        if (after.done.length > before.done.length) expect(back.present).toEqual(before.present);
        expect(again.present).toEqual(after.present);
        expect(again.done).toEqual(after.done);
      }),
      { numRuns: 300 },
    );
  });

  it("goes back to the first graph and forth to the last", () => {
    fc.assert(
      fc.property(anyCommands, (commands) => {
        const last = commands.reduce(
          (history, next) => perform(history, next(history.present)),
          historyOf(CHAIN),
        );
        let history = last;
        while (history.done.length > 0) history = undo(history);
        expect(history.present).toEqual(CHAIN);
        while (history.undone.length > 0) history = redo(history);
        expect(history.present).toEqual(last.present);
      }),
      { numRuns: 200 },
    );
  });

  it("keeps every graph well-formed", () => {
    fc.assert(
      fc.property(anyCommands, (commands) => {
        let history = historyOf(CHAIN);
        for (const next of commands) {
          history = perform(history, next(history.present));
          expectWellFormed(history.present);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("takes typing in one field as one step", () => {
    const typed = ["x", "x >", "x > 2"].reduce(
      (history, value) => perform(history, { kind: "set", id: "b", setting: "condition", value }),
      historyOf(CHAIN),
    );
    expect(typed.done).toHaveLength(1);
    expect(undoLabel(typed)).toBe("change condition of b");
    expect(undo(typed).present).toEqual(CHAIN);
    expect(redoLabel(undo(typed))).toBe("change condition of b");
  });

  it("does not log a command that changes nothing, and keeps what can be redone", () => {
    const moved = perform(historyOf(CHAIN), { kind: "move", positions: { a: { x: 9, y: 9 } } });
    const back = undo(moved);
    expect(perform(back, { kind: "remove", ids: ["gone"], edges: [] })).toBe(back);
    expect(perform(back, { kind: "move", positions: { a: { x: 0, y: 0 } } })).toBe(back);
  });

  it("forgets the oldest steps beyond the limit", () => {
    let history = historyOf(CHAIN);
    for (let x = 1; x <= STEPS_MAX + 5; x += 1)
      history = perform(history, { kind: "move", positions: { a: { x, y: 0 } } });
    expect(history.done).toHaveLength(STEPS_MAX);
  });
});
