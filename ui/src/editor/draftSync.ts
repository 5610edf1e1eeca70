/** Keeps the draft on the server equal to the local graph. Never overwrites what somebody else saved. */
import { useConnection } from "@/api/connection";
import { readDraft, writeDraft } from "@/api/pipelines";
import { ApiProblem, messageOf, Unreachable } from "@/api/problem";
import type { DraftView } from "@/api/types";
import { documentOf, type Graph, graphOf } from "@/document/graph";
import { openDraft, openNew, toldBy, useDocument } from "@/stores/documentStore";

export const SAVE_DELAY_MS = 400;

/** Loads the draft into the document store; a name that the server does not know becomes a new pipeline. */
export async function loadDraft(pipeline: string): Promise<void> {
  try {
    openDraft(pipeline, await readDraft(pipeline));
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 404)) throw error;
    openNew(pipeline);
  }
}

/** Saves edits a moment after they were made, and when the server is back. Returns the end of it. */
export function startAutosave(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void saveNow(), SAVE_DELAY_MS);
  };
  const offDocument = useDocument.subscribe((state, before) => {
    if (state.history.present !== before.history.present && hasEdits()) later();
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

/** Whether the local graph differs from what the server has. */
export function hasEdits(): boolean {
  const { history, saved } = useDocument.getState();
  return history.present !== saved;
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
  const { pipeline, history, told } = useDocument.getState();
  const sent = history.present;
  useDocument.setState({ saveState: "saving", refusal: null });
  try {
    const view = await writeDraft(pipeline, told.revision, documentOf(sent, pipeline), sent.layout);
    if (useDocument.getState().pipeline === pipeline) noteSaved(sent, view);
    return true;
  } catch (error) {
    if (useDocument.getState().pipeline === pipeline) noteFailure(sent, error);
    return false;
  }
}

function noteSaved(sent: Graph, view: DraftView): void {
  const isLatest = useDocument.getState().history.present === sent;
  useDocument.setState({
    saved: sent,
    told: toldBy(view),
    saveState: isLatest ? "saved" : "unsaved",
    theirs: null,
  });
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
    openDraft(pipeline, view);
}

/** Asks anew what changed against the version that runs: another one may run now, and the draft may have another
 * revision. Edits here are left alone. */
export async function refreshTold(pipeline: string): Promise<void> {
  if (useDocument.getState().pipeline !== pipeline || hasEdits() || running !== null) return;
  const view = await readDraft(pipeline).catch(() => null);
  const { told, pipeline: open } = useDocument.getState();
  if (!view || open !== pipeline || hasEdits()) return;
  if (view.revision > told.revision) openDraft(pipeline, view);
  else if (view.revision === told.revision) useDocument.setState({ told: toldBy(view) });
}

/** Ends a conflict with the other side's draft; what was edited here is gone from this pipeline. */
export function takeTheirs(): void {
  const { pipeline, theirs } = useDocument.getState();
  if (theirs) openDraft(pipeline, theirs);
}

/** Ends a conflict by saving this side under another name. Raises ApiProblem when the name is taken. */
export async function keepMineAs(copy: string): Promise<void> {
  const { history } = useDocument.getState();
  await writeDraft(copy, 0, documentOf(history.present, copy), history.present.layout);
  takeTheirs();
}
