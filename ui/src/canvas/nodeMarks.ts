import type { JobError, JobState, Problem } from "@/api/types";
import { firstLine } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";

/** Why the job failed at this node; null unless it did, and is not running again. */
function useFailure(id: string): string | null {
  const pipeline = useDocument((state) => state.pipeline);
  return useMetrics((state) => {
    const job = state.jobs[pipeline];
    return job?.state === "failed" && job.error?.node === id ? firstLine(job.error.message) : null;
  });
}

/** Why the open pipeline's job failed, wherever that was; null unless it did. */
export function useJobFailure(): JobError | null {
  const pipeline = useDocument((state) => state.pipeline);
  return useMetrics((state) => {
    const job = state.jobs[pipeline];
    return job?.state === "failed" ? job.error : null;
  });
}

/** The state of one node: where a job failed at another one, or nobody knows where, this one merely stopped; what is
 * new runs nowhere yet. */
export function useNodeState(id: string): JobState | undefined {
  const pipeline = useDocument((state) => state.pipeline);
  const isNew = useDocument((state) => state.told.added.has(id));
  const shown = useMetrics((state) => {
    const job = state.jobs[pipeline];
    const isElsewhere = job?.state === "failed" && job.error?.node !== id;
    return isElsewhere ? "stopped" : job?.state;
  });
  return isNew ? undefined : shown;
}

const NONE: readonly Problem[] = [];

/** What the server says about one node. */
export function useNodeMarks(id: string) {
  const problems = useDocument((state) => state.told.problemsOf.get(id) ?? NONE);
  const isChanged = useDocument((state) => state.told.changed.has(id));
  return { problems, isChanged, failure: useFailure(id) };
}
