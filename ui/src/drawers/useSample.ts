import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { sample } from "@/api/pipelines";
import type { Edge } from "@/document/graph";
import { edgeKey } from "@/document/graph";

/** A sample runs a part of the pipeline: not more often than this. */
export const FOLLOW_INTERVAL_MS = 3_000;

interface SampleOptions {
  filter: string;
  limit: number;
  isFollowing: boolean;
}

/** The newest rows on an edge; again and again while following. */
export function useSample(pipeline: string, edge: Edge, { filter, limit, isFollowing }: SampleOptions) {
  return useQuery({
    queryKey: ["sample", pipeline, edgeKey(edge), filter, limit],
    queryFn: ({ signal }) => sample(pipeline, { edge, limit, ...(filter ? { filter } : {}) }, signal),
    refetchInterval: isFollowing ? FOLLOW_INTERVAL_MS : false,
    placeholderData: keepPreviousData,
    retry: false,
    refetchOnWindowFocus: false,
    enabled: pipeline !== "",
  });
}
