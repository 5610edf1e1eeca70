import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { request } from "@/api/client";
import type { JobView, PipelineList, TemplateList } from "@/api/types";

/** States and rates change by themselves; the browser asks again only while the page is looked at. */
const REFRESH_MS = 2_000;

export const PIPELINES_KEY = ["pipelines"];

export function usePipelines(): UseQueryResult<PipelineList> {
  return useQuery({
    queryKey: PIPELINES_KEY,
    queryFn: ({ signal }) => request<PipelineList>("GET", "/api/pipelines", { signal }),
    refetchInterval: REFRESH_MS,
  });
}

export function useJobs(): UseQueryResult<JobView[]> {
  return useQuery({
    queryKey: ["jobs"],
    queryFn: async ({ signal }) => (await request<{ jobs: JobView[] }>("GET", "/api/jobs", { signal })).jobs,
    refetchInterval: REFRESH_MS,
  });
}

export function useTemplates(): UseQueryResult<TemplateList> {
  return useQuery({
    queryKey: ["templates"],
    queryFn: ({ signal }) => request<TemplateList>("GET", "/api/templates", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
