import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { request, segment, withQuery } from "@/api/client";
import type { Diff, DocumentBody, DraftView, LayoutBody, VersionInfo } from "@/api/types";
import type { Side, Sides } from "./sides";

export interface Content {
  document: DocumentBody;
  layout: LayoutBody;
}

const pipelinePath = (name: string) => `/api/pipelines/${segment(name)}`;

/** Oldest first. */
export function useVersions(name: string): UseQueryResult<VersionInfo[]> {
  return useQuery({
    queryKey: ["versions", name],
    queryFn: async ({ signal }) => {
      const path = `${pipelinePath(name)}/versions`;
      return (await request<{ versions: VersionInfo[] }>("GET", path, { signal })).versions;
    },
  });
}

export function useContent(name: string, side: Side): UseQueryResult<Content> {
  return useQuery({
    queryKey: ["content", name, side],
    queryFn: ({ signal }): Promise<Content> => {
      const path = pipelinePath(name);
      return request("GET", side === "draft" ? `${path}/draft` : withQuery(path, { version: side }), {
        signal,
      });
    },
    // A version never changes; the draft may with every visit.
    staleTime: side === "draft" ? 0 : Number.POSITIVE_INFINITY,
  });
}

export function useDiff(name: string, sides: Sides): UseQueryResult<Diff> {
  return useQuery({
    queryKey: ["diff", name, sides],
    queryFn: ({ signal }) =>
      request<Diff>("GET", withQuery(`${pipelinePath(name)}/diff`, { old: sides.old, new: sides.new }), {
        signal,
      }),
    staleTime: 0,
  });
}

/** The draft becomes that version. Whoever changed the draft meanwhile is not overwritten: the server refuses then. */
export async function restore(name: string, number: number): Promise<DraftView> {
  const path = pipelinePath(name);
  const { revision } = await request<DraftView>("GET", `${path}/draft`);
  return request<DraftView>("POST", `${path}/versions/${number}/restore`, {
    body: { expected_revision: revision },
  });
}
