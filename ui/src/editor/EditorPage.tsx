import { ReactFlowProvider } from "@xyflow/react";
import { useCallback, useEffect, useState } from "react";
import { ApiProblem } from "@/api/problem";
import { useCatalogue } from "@/canvas/useCatalogue";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { closeDraft, useDocument } from "@/stores/documentStore";
import { resetUi } from "@/stores/uiStore";
import { loadDraft, startAutosave } from "./draftSync";
import { Editor } from "./Editor";
import { MissingPipeline } from "./MissingPipeline";
import { useLiveEvents } from "./useLiveEvents";

/** Opens the draft of a pipeline, keeps it saved, and follows its job. */
export default function EditorPage({ pipeline }: { pipeline: string }) {
  const isOpen = useDocument((state) => state.pipeline === pipeline && state.saveState !== "loading");
  const catalogue = useCatalogue();
  const [error, setError] = useState<unknown>(null);
  const load = useCallback(() => {
    setError(null);
    loadDraft(pipeline).catch(setError);
  }, [pipeline]);

  useEffect(() => {
    resetUi();
    load();
    const stop = startAutosave();
    return () => {
      stop();
      closeDraft();
    };
  }, [load]);
  useLiveEvents();

  if (error instanceof ApiProblem && error.status === 404)
    return <MissingPipeline pipeline={pipeline} hint={error.hint} onMade={load} />;
  if (error !== null)
    return <ErrorState title={`${pipeline} could not be opened`} error={error} onRetry={load} />;
  if (catalogue.error) {
    const retry = () => void catalogue.refetch();
    return <ErrorState title="The operators could not be read" error={catalogue.error} onRetry={retry} />;
  }
  if (!isOpen || catalogue.isPending) return <Loading what={pipeline} />;
  return (
    <ReactFlowProvider>
      <Editor />
    </ReactFlowProvider>
  );
}
