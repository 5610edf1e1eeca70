/** The pipeline that is open: its undo log, and what the server last said about the draft. */
import { create } from "zustand";
import type { Change, DraftView, Notations, Problem, Schema } from "@/api/types";
import type { Command } from "@/document/commands";
import { type Graph, graphOf, isSameGraph } from "@/document/graph";
import { EMPTY_HISTORY, type History, historyOf, perform, redo, undo } from "@/document/history";
import { placed } from "@/layout/placement";

/** Where the local graph stands to the draft on the server. */
export type SaveState = "loading" | "saved" | "unsaved" | "saving" | "offline" | "refused" | "conflict";

/** Texts that were written as a notation and cannot be read yet. They are drafts of their own: the graph stays as it is. */
export type WrittenLanguage = "sql" | "text";
export type Texts = Readonly<Partial<Record<WrittenLanguage, string>>>;

/** What the server told about the draft as it was last saved. */
export interface Told {
  readonly revision: number;
  readonly baseVersion: number;
  readonly latestVersion: number;
  readonly problems: readonly Problem[];
  readonly problemsOf: ReadonlyMap<string, readonly Problem[]>;
  readonly changes: readonly Change[];
  /** Nodes that differ from the version that runs or was saved last. */
  readonly changed: ReadonlySet<string>;
  /** Nodes that the version that runs does not have. */
  readonly added: ReadonlySet<string>;
  readonly changesFrom: DraftView["changes_from"];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly notations: Notations;
}

const NOTHING_TOLD: Told = {
  revision: 0,
  baseVersion: 0,
  latestVersion: 0,
  problems: [],
  problemsOf: new Map(),
  changes: [],
  changed: new Set(),
  added: new Set(),
  changesFrom: "nothing",
  schemas: {},
  notations: { sql: "", text: "", python: "", reasons: {} },
};

export interface DocumentState {
  readonly pipeline: string;
  readonly history: History;
  /** The graph that the server has. */
  readonly saved: Graph;
  readonly texts: Texts;
  /** The texts that the server has. */
  readonly savedTexts: Texts;
  readonly saveState: SaveState;
  readonly told: Told;
  /** The draft that somebody else saved meanwhile. */
  readonly theirs: DraftView | null;
  readonly refusal: string | null;
}

const NO_TEXTS: Texts = {};

const CLOSED: DocumentState = {
  pipeline: "",
  history: EMPTY_HISTORY,
  saved: EMPTY_HISTORY.present,
  texts: NO_TEXTS,
  savedTexts: NO_TEXTS,
  saveState: "loading",
  told: NOTHING_TOLD,
  theirs: null,
  refusal: null,
};

export const useDocument = create<DocumentState>(() => CLOSED);

export const presentGraph = (): Graph => useDocument.getState().history.present;

function byNode(problems: readonly Problem[]): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  for (const problem of problems) {
    if (problem.node) found.set(problem.node, [...(found.get(problem.node) ?? []), problem]);
  }
  return found;
}

export const toldBy = (view: DraftView): Told => ({
  revision: view.revision,
  baseVersion: view.base_version,
  latestVersion: view.latest_version,
  problems: view.problems,
  problemsOf: byNode(view.problems),
  changes: view.changes,
  changed: new Set(
    view.changes_from === "nothing" ? [] : view.changes.flatMap(({ node }) => (node ? [node] : [])),
  ),
  added: new Set(
    view.changes_from === "running"
      ? view.changes.flatMap(({ kind, node }) => (kind === "node_added" && node ? [node] : []))
      : [],
  ),
  changesFrom: view.changes_from,
  schemas: view.schemas,
  notations: view.notations,
});

/** Opens a draft as it is on the server; the undo log begins anew. */
export function openDraft(pipeline: string, view: DraftView): void {
  const graph = graphOf(view.document, view.layout);
  useDocument.setState({
    ...CLOSED,
    pipeline,
    history: historyOf(graph),
    saved: graph,
    texts: view.texts,
    savedTexts: view.texts,
    saveState: "saved",
    told: toldBy(view),
  });
}

/**
 * Takes over what the server has now, as one step of undo: what was done here before can still be undone. A draft that
 * is the same, with another revision, is no step: a deploy makes one, also when it fails.
 */
export function followDraft(view: DraftView, label: string): void {
  const theirs = graphOf(view.document, view.layout);
  const { history, texts, savedTexts } = useDocument.getState();
  // A place that only this side knows stays.
  const layout = { ...history.present.layout, ...theirs.layout };
  const isSame = isSameGraph(history.present, { ...theirs, layout });
  const followed = isSame ? history : perform(history, { kind: "rewrite", graph: theirs, label });
  useDocument.setState({
    history: followed,
    saved: followed.present,
    texts: texts === savedTexts ? view.texts : texts,
    savedTexts: view.texts,
    saveState: "saved",
    told: toldBy(view),
    theirs: null,
    refusal: null,
  });
}

export function closeDraft(): void {
  useDocument.setState(CLOSED);
}

/** Every edit goes through here. False if the command did not fit, and nothing changed. */
export function execute(command: Command): boolean {
  return change((history) => {
    const before = withPlaces(history);
    const after = perform(before, command);
    return after === before ? history : after;
  });
}

/** Nodes without a place of their own stay where they are drawn, whatever the edit adds or takes away. */
function withPlaces(history: History): History {
  const layout = placed(history.present);
  return layout === history.present.layout
    ? history
    : { ...history, present: { ...history.present, layout } };
}

export const undoLast = (): boolean => change(undo);
export const redoNext = (): boolean => change(redo);

/** Keeps a text that is not in the graph; undefined when it is, or when it was given up. */
export function noteText(language: WrittenLanguage, text: string | undefined): void {
  const { texts, saveState } = useDocument.getState();
  if (texts[language] === text) return;
  const { [language]: _old, ...others } = texts;
  useDocument.setState({
    texts: text === undefined ? others : { ...others, [language]: text },
    saveState: unsavedAfter(saveState),
  });
}

/** A conflict and a server that is gone stay what they are, whatever is edited. */
const unsavedAfter = (state: SaveState): SaveState =>
  state === "conflict" || state === "offline" ? state : "unsaved";

function change(step: (history: History) => History): boolean {
  const state = useDocument.getState();
  const history = step(state.history);
  if (history === state.history) return false;
  useDocument.setState({ history, saveState: unsavedAfter(state.saveState) });
  return true;
}
