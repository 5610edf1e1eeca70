import { useEffect } from "react";
import type { JobEvent } from "@/api/types";
import { followEvents } from "@/live/eventStream";
import { useDocument } from "@/stores/documentStore";
import { hasEdits, noteRemoteRevision, refreshTold } from "./draftSync";

function onEvent(event: JobEvent): void {
  if (event.kind === "started" || event.kind === "stopped") void refreshTold(event.pipeline);
  if (event.kind !== "draft_changed") return;
  const revision = Number(event.details.revision);
  if (Number.isFinite(revision)) void noteRemoteRevision(event.pipeline, revision);
}

const onOpen = (): void => void refreshTold(useDocument.getState().pipeline);

/** Follows the server's events while the editor is open, and asks before unsaved edits are left behind. */
export function useLiveEvents(): void {
  useEffect(() => followEvents({ onEvent, onOpen }), []);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (hasEdits()) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
}
