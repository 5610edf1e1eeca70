import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { noteOnline } from "@/api/connection";
import type { DraftView } from "@/api/types";
import { documentOf, type Graph } from "@/document/graph";
import { undoLabel } from "@/document/history";
import { CHAIN } from "@/document/testing";
import { execute, noteText, openDraft, undoLast, useDocument } from "@/stores/documentStore";
import { hasEdits, keepMineAs, noteRemoteRevision, refreshTold, saveNow, takeTheirs } from "./draftSync";

const ADDED: DraftView["changes"][number] = {
  kind: "node_added",
  node: "a",
  setting: null,
  edge: null,
  old: null,
  new: "preview",
  text: "",
};

/** A server that holds one draft and answers as the real one does. */
class Server {
  revision = 1;
  graph: Graph = CHAIN;
  isGone = false;
  losesAnswers = false;
  isDeployed = false;
  copies: string[] = [];
  texts: DraftView["texts"] = {};

  view(): DraftView {
    return {
      pipeline: "demo",
      revision: this.revision,
      base_version: 0,
      latest_version: 0,
      saved_at: "2026-01-31T12:00:00Z",
      document: documentOf(this.graph, "demo"),
      layout: { ...this.graph.layout },
      problems: [],
      changes: this.isDeployed ? [] : [ADDED],
      changes_from: this.isDeployed ? "running" : "nothing",
      schemas: {},
      texts: this.texts,
      notations: { sql: "", text: "", python: "", reasons: {} },
    };
  }

  answer = async (path: string, init: RequestInit): Promise<Response> => {
    if (this.isGone) throw new TypeError("Failed to fetch");
    if (init.method === "GET") return json(200, this.view());
    const body = JSON.parse(String(init.body)) as {
      expected_revision: number;
      document: DraftView["document"];
      layout: Graph["layout"];
    };
    const language = /\/draft\/texts\/(sql|text)$/.exec(path)?.[1] as "sql" | "text" | undefined;
    if (language) {
      const { [language]: _old, ...others } = this.texts;
      const { text } = JSON.parse(String(init.body)) as { text: string | null };
      this.texts = text === null ? others : { ...others, [language]: text };
      return json(200, { texts: this.texts });
    }
    if (!path.includes("/demo/")) {
      this.copies.push(path);
      return json(200, this.view());
    }
    if (body.expected_revision !== this.revision)
      return json(409, { code: "conflict", message: "changed", current: this.view() });
    this.write({
      nodes: Object.fromEntries(body.document.nodes.map((node) => [node.id, node])),
      edges: body.document.edges,
      layout: body.layout,
    });
    if (this.losesAnswers) throw new TypeError("Failed to fetch");
    return json(200, this.view());
  };

  write(graph: Graph): void {
    this.graph = graph;
    this.revision += 1;
  }
}

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
const moved = (x: number) => execute({ kind: "move", positions: { a: { x, y: 0 } } });
const renamed = (to: string) => execute({ kind: "rename", id: "b", to });
const state = () => useDocument.getState();

let server: Server;

beforeEach(() => {
  server = new Server();
  vi.stubGlobal("fetch", server.answer);
  noteOnline();
  openDraft("demo", server.view());
});
afterEach(() => vi.unstubAllGlobals());

describe("the draft", () => {
  it("is saved with the revision that it replaces", async () => {
    renamed("low");
    expect(state().saveState).toBe("unsaved");
    await saveNow();
    expect(state().saveState).toBe("saved");
    expect(server.graph.nodes).toHaveProperty("low");
    undoLast();
    await saveNow();
    expect(server.graph.nodes).toHaveProperty("b");
    expect(server.revision).toBe(3);
  });

  it("keeps edits while the server is gone, and saves them when it is back", async () => {
    server.isGone = true;
    renamed("low");
    await saveNow();
    expect(state().saveState).toBe("offline");
    moved(77);
    expect(hasEdits()).toBe(true);
    server.isGone = false;
    await saveNow();
    expect(state().saveState).toBe("saved");
    expect(server.graph.layout.a).toEqual({ x: 77, y: 0 });
  });

  it("does not take a lost answer for a conflict", async () => {
    server.losesAnswers = true;
    renamed("low");
    await saveNow();
    expect(state().saveState).toBe("offline");
    server.losesAnswers = false;
    await saveNow();
    expect(state().saveState).toBe("saved");
    expect(state().told.revision).toBe(server.revision);
  });

  it("has no changes once it runs, though nobody said that its revision is another", async () => {
    expect(state().told.changes).toHaveLength(1);
    server.isDeployed = true;
    server.write(server.graph);
    await refreshTold("demo");
    expect(state().told.changes).toEqual([]);
    expect(state().told.revision).toBe(2);
  });

  it("never overwrites what somebody else saved", async () => {
    const theirs = {
      ...CHAIN,
      nodes: { ...CHAIN.nodes, c: { id: "c", operator: "preview", config: { rows: 7 } } },
    };
    server.write(theirs);
    renamed("low");
    await saveNow();
    expect(state().saveState).toBe("conflict");
    expect(server.graph).toBe(theirs);
    moved(5);
    await saveNow();
    expect(server.graph).toBe(theirs);
    takeTheirs();
    expect(state().history.present.nodes.c?.config).toEqual({ rows: 7 });
    expect(hasEdits()).toBe(false);
  });

  it("keeps mine as a copy", async () => {
    server.write({ ...CHAIN, edges: [] });
    renamed("low");
    await saveNow();
    await keepMineAs("demo-copy");
    expect(server.copies).toEqual(["/api/pipelines/demo-copy/draft"]);
    expect(state().history.present.edges).toEqual([]);
  });

  it("keeps a text that cannot be read, beside the graph, until it can be", async () => {
    noteText("sql", "SELECT FORM");
    expect(state().saveState).toBe("unsaved");
    await saveNow();
    expect(server.texts).toEqual({ sql: "SELECT FORM" });
    expect(server.revision).toBe(1);
    expect(state().saveState).toBe("saved");
    openDraft("demo", server.view());
    expect(state().texts).toEqual({ sql: "SELECT FORM" });
    noteText("sql", undefined);
    renamed("low");
    await saveNow();
    expect(server.texts).toEqual({});
    expect(server.graph.nodes).toHaveProperty("low");
    expect(hasEdits()).toBe(false);
  });

  it("keeps such a text while the server is gone", async () => {
    server.isGone = true;
    noteText("text", "generator ! nothing");
    await saveNow();
    expect(state().saveState).toBe("offline");
    server.isGone = false;
    await saveNow();
    expect(server.texts).toEqual({ text: "generator ! nothing" });
  });

  it("keeps the undo log when the same draft gets another revision, as a deploy that fails gives it", async () => {
    renamed("low");
    await saveNow();
    server.write(server.graph);
    await noteRemoteRevision("demo", server.revision);
    server.write(server.graph);
    await refreshTold("demo");
    expect(state().told.revision).toBe(server.revision);
    expect(state().history.done).toHaveLength(1);
    undoLast();
    await saveNow();
    expect(server.graph.nodes).toHaveProperty("b");
  });

  it("takes over another tab's edits as one step of undo", async () => {
    renamed("low");
    await saveNow();
    for (const rows of [1, 12]) {
      const nodes = { ...server.graph.nodes, c: { id: "c", operator: "preview", config: { rows } } };
      server.write({ ...server.graph, nodes });
      await noteRemoteRevision("demo", server.revision);
    }
    expect(state().history.present.nodes.c?.config).toEqual({ rows: 12 });
    expect(hasEdits()).toBe(false);
    expect(undoLabel(state().history)).toBe("changes made elsewhere");
    undoLast();
    expect(state().history.present.nodes.c?.config).toEqual(CHAIN.nodes.c?.config);
    undoLast();
    expect(state().history.present.nodes).toHaveProperty("b");
  });

  it("brings back mine by undo after theirs was taken", async () => {
    server.write({ ...CHAIN, edges: [] });
    renamed("low");
    await saveNow();
    takeTheirs();
    expect(state().history.present.nodes).not.toHaveProperty("low");
    undoLast();
    await saveNow();
    expect(server.graph.nodes).toHaveProperty("low");
    expect(state().saveState).toBe("saved");
  });

  it("follows another tab while there are no edits here", async () => {
    server.write({ ...CHAIN, edges: [] });
    await noteRemoteRevision("demo", server.revision);
    expect(state().history.present.edges).toEqual([]);
    expect(state().told.revision).toBe(server.revision);
  });
});
