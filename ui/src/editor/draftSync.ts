/** Keeps the draft on the server equal to the local graph. Never overwrites what somebody else saved. */
import { useConnection } from "@/api/connection";
import { discardDraft, readDraft, writeDraft, writeDraftText } from "@/api/pipelines";
import { ApiProblem, messageOf, Unreachable } from "@/api/problem";
import type { DraftView } from "@/api/types";
import { ELSEWHERE } from "@/document/commands";
import { documentOf, type Graph, graphOf } from "@/document/graph";
import { followDraft, openDraft, type Texts, toldBy, useDocument } from "@/stores/documentStore";

export const SAVE_DELAY_MS = 400;

/** Loads the draft into the document store. Raises ApiProblem, with 404 for a name that the server does not know. */
export async function loadDraft(pipeline: string): Promise<void> {
  openDraft(pipeline, await readDraft(pipeline));
}

/** Saves edits a moment after they were made, and when the server is back. Returns the end of it. */
export function startAutosave(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void saveNow(), SAVE_DELAY_MS);
  };
  const offDocument = useDocument.subscribe((state, before) => {
    const isEdited = state.history.present !== before.history.present || state.texts !== before.texts;
    if (isEdited && hasEdits()) later();
  });
  const offConnection = useConnection.subscribe(({ isOnline }) => {
    if (isOnline && hasEdits()) later();
  });
  return () => {
    clearTimeout(timer);
    offDocument();
    offConnection();
    if (hasEdits()) void saveNow();
  };
}

/** Whether the local graph, or a text that cannot be read yet, differs from what the server has. */
export const hasEdits = (): boolean => isGraphEdited() || isTextEdited();

function isGraphEdited(): boolean {
  const { history, saved } = useDocument.getState();
  return history.present !== saved;
}

function isTextEdited(): boolean {
  const { texts, savedTexts } = useDocument.getState();
  return texts !== savedTexts;
}

let running: Promise<void> | null = null;

/** Saves until nothing is left to save. Resolves also when the server refused, conflicts or is gone. */
export async function saveNow(): Promise<void> {
  running ??= saveAll().finally(() => {
    running = null;
  });
  return running;
}

async function saveAll(): Promise<void> {
  while (hasEdits() && useDocument.getState().saveState !== "conflict") {
    if (!(await saveOnce())) return;
  }
}

async function saveOnce(): Promise<boolean> {
  const { pipeline, history, texts } = useDocument.getState();
  const sent = history.present;
  useDocument.setState({ saveState: "saving", refusal: null });
  try {
    if (isGraphEdited()) await saveGraph(pipeline, sent);
    if (useDocument.getState().pipeline === pipeline && isTextEdited()) await saveTexts(pipeline, texts);
    return true;
  } catch (error) {
    if (useDocument.getState().pipeline === pipeline) noteFailure(sent, error);
    return false;
  }
}

async function saveGraph(pipeline: string, sent: Graph): Promise<void> {
  const { told } = useDocument.getState();
  const view = await writeDraft(pipeline, told.revision, documentOf(sent, pipeline), sent.layout);
  if (useDocument.getState().pipeline === pipeline) noteSaved(sent, view);
}

async function saveTexts(pipeline: string, texts: Texts): Promise<void> {
  const { savedTexts } = useDocument.getState();
  for (const language of ["sql", "text"] as const) {
    if (texts[language] !== savedTexts[language])
      await writeDraftText(pipeline, language, texts[language] ?? null);
  }
  if (useDocument.getState().pipeline !== pipeline) return;
  useDocument.setState({ savedTexts: texts });
  useDocument.setState({ saveState: hasEdits() ? "unsaved" : "saved" });
}

function noteSaved(sent: Graph, view: DraftView): void {
  useDocument.setState({ saved: sent, told: toldBy(view), theirs: null });
  useDocument.setState({ saveState: hasEdits() ? "unsaved" : "saved" });
}

function noteFailure(sent: Graph, error: unknown): void {
  if (error instanceof Unreachable) {
    useDocument.setState({ saveState: "offline" });
    return;
  }
  const current = error instanceof ApiProblem && error.status === 409 ? error.details.current : null;
  if (current) noteConflict(sent, current as DraftView);
  else useDocument.setState({ saveState: "refused", refusal: messageOf(error) });
}

/** The same change made twice is no conflict: an answer that was lost, for instance. */
function noteConflict(sent: Graph, theirs: DraftView): void {
  const { pipeline } = useDocument.getState();
  const isSame = JSON.stringify(documentOf(sent, pipeline)) === JSON.stringify(sortedDocument(theirs));
  if (isSame) noteSaved(sent, theirs);
  else useDocument.setState({ saveState: "conflict", theirs });
}

const sortedDocument = (view: DraftView) =>
  documentOf(graphOf(view.document, view.layout), view.document.name);

/** Called when the server says that the draft is at another revision: taken over unless there are edits here. */
export async function noteRemoteRevision(pipeline: string, revision: number): Promise<void> {
  const state = useDocument.getState();
  if (state.pipeline !== pipeline || revision <= state.told.revision || running !== null) return;
  if (hasEdits()) return void saveNow();
  const view = await readDraft(pipeline).catch(() => null);
  const now = useDocument.getState();
  if (view && now.pipeline === pipeline && view.revision > now.told.revision && !hasEdits())
    followDraft(view, ELSEWHERE);
}

/** Asks anew what changed against the version that runs: another one may run now, and the draft may have another
 * revision. Edits here are left alone. */
export async function refreshTold(pipeline: string): Promise<void> {
  if (useDocument.getState().pipeline !== pipeline || hasEdits() || running !== null) return;
  const view = await readDraft(pipeline).catch(() => null);
  const { told, pipeline: open } = useDocument.getState();
  if (!view || open !== pipeline || hasEdits()) return;
  if (view.revision >= told.revision) followDraft(view, ELSEWHERE);
}

/** Ends a conflict with the other side's draft; undo brings back what was edited here. */
export function takeTheirs(): void {
  const { theirs } = useDocument.getState();
  if (theirs) followDraft(theirs, "take theirs");
}

/** Forgets what the draft has beyond its version; undo brings it back. Raises ApiProblem, Unreachable. */
export async function discardEdits(pipeline: string): Promise<void> {
  await discardDraft(pipeline);
  const view = await readDraft(pipeline);
  if (useDocument.getState().pipeline === pipeline) followDraft(view, "discard the draft");
}

/** Ends a conflict by saving this side under another name. Raises ApiProblem when the name is taken. */
export async function keepMineAs(copy: string): Promise<void> {
  const { history } = useDocument.getState();
  await writeDraft(copy, 0, documentOf(history.present, copy), history.present.layout);
  takeTheirs();
}
