import { useShallow } from "zustand/react/shallow";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";

/** Why the job failed at this node; null unless it did, and is not running again. */
function useFailure(id: string): string | null {
  const pipeline = useDocument((state) => state.pipeline);
  return useMetrics((state) => {
    if (state.jobs[pipeline]?.state !== "failed") return null;
    const failed = state.events[pipeline]?.findLast((event) => event.kind === "error");
    return failed?.node === id ? String(failed.details.message ?? "the job failed here") : null;
  });
}

/** What the server says about one node. */
export function useNodeMarks(id: string) {
  const problems = useDocument(
    useShallow((state) => state.told.problems.filter((problem) => problem.node === id)),
  );
  const isChanged = useDocument(
    (state) =>
      state.told.changesFrom !== "nothing" && state.told.changes.some((change) => change.node === id),
  );
  return { problems, isChanged, failure: useFailure(id) };
}
