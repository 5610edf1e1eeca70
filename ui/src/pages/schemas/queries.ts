import { type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, segment, withQuery } from "@/api/client";
import { notifyFailure } from "../common/notify";

export const LEVELS = [
  "NONE",
  "BACKWARD",
  "BACKWARD_TRANSITIVE",
  "FORWARD",
  "FORWARD_TRANSITIVE",
  "FULL",
  "FULL_TRANSITIVE",
] as const;

/** A version of a subject, as Confluent's API names its parts. */
export interface SchemaEntry {
  readonly version: number;
  readonly id: number;
  readonly schema: string;
  readonly schemaType: string;
}

const REGISTRY = "/api/registry";
const SUBJECTS_KEY = ["subjects"];
const versionsPath = (subject: string) => `${REGISTRY}/subjects/${segment(subject)}/versions`;
const levelPath = (subject: string) => `${REGISTRY}/config/${segment(subject)}`;
const levelKey = (subject: string) => [...SUBJECTS_KEY, subject, "level"];

export function useSubjects(): UseQueryResult<string[]> {
  return useQuery({
    queryKey: SUBJECTS_KEY,
    queryFn: ({ signal }) => request<string[]>("GET", `${REGISTRY}/subjects`, { signal }),
  });
}

export function useVersionNumbers(subject: string): UseQueryResult<number[]> {
  return useQuery({
    queryKey: [...SUBJECTS_KEY, subject],
    queryFn: ({ signal }) => request<number[]>("GET", versionsPath(subject), { signal }),
  });
}

export function useSchema(subject: string, version: number | undefined): UseQueryResult<SchemaEntry> {
  return useQuery({
    queryKey: [...SUBJECTS_KEY, subject, version],
    queryFn: ({ signal }) => request<SchemaEntry>("GET", `${versionsPath(subject)}/${version}`, { signal }),
    enabled: version !== undefined,
  });
}

export function useLevel(subject: string): UseQueryResult<string> {
  return useQuery({
    queryKey: levelKey(subject),
    queryFn: async ({ signal }) => {
      const path = withQuery(levelPath(subject), { defaultToGlobal: true });
      return (await request<{ compatibilityLevel: string }>("GET", path, { signal })).compatibilityLevel;
    },
  });
}

export function useSetLevel(subject: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (compatibility: string) => request("PUT", levelPath(subject), { body: { compatibility } }),
    onError: (error) => notifyFailure("The compatibility could not be changed", error),
    onSettled: () => queries.invalidateQueries({ queryKey: levelKey(subject) }),
  });
}
