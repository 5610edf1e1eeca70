import type { Problem } from "@/api/types";
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

const NONE: readonly Problem[] = [];

/** What the server says about one node. */
export function useNodeMarks(id: string) {
  const problems = useDocument((state) => state.told.problemsOf.get(id) ?? NONE);
  const isChanged = useDocument((state) => state.told.changed.has(id));
  return { problems, isChanged, failure: useFailure(id) };
}
