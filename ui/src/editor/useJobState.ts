import { useQuery } from "@tanstack/react-query";
import { readJob } from "@/api/pipelines";
import { ApiProblem } from "@/api/problem";
import type { JobView } from "@/api/types";
import { useMetrics } from "@/stores/metricsStore";

async function jobOrNull(pipeline: string): Promise<JobView | null> {
  try {
    return await readJob(pipeline);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

export const jobKey = (pipeline: string) => ["job", pipeline];

/** The job with its error and version; its state is the live one. Null for a pipeline that never ran. */
export function useJob(pipeline: string) {
  const live = useMetrics((state) => state.jobs[pipeline]?.state);
  const query = useQuery({ queryKey: [...jobKey(pipeline), live], queryFn: () => jobOrNull(pipeline) });
  return { job: query.data ?? null, state: live ?? query.data?.state ?? null };
}
