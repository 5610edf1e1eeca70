import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { request, segment } from "@/api/client";
import type { TopicList } from "@/api/types";
import type { GroupList, GroupView, TopicView } from "./types";

const REFRESH_MS = 3_000;

export const TOPICS_KEY = ["topics"];
export const GROUPS_KEY = ["groups"];
export const topicKey = (name: string) => [...TOPICS_KEY, name];
export const groupKey = (name: string) => [...GROUPS_KEY, name];

export const topicPath = (name: string) => `/api/topics/${segment(name)}`;
export const groupPath = (name: string) => `/api/groups/${segment(name)}`;

export function useTopics(): UseQueryResult<TopicList> {
  return useQuery({
    queryKey: TOPICS_KEY,
    queryFn: ({ signal }) => request<TopicList>("GET", "/api/topics", { signal }),
    refetchInterval: REFRESH_MS,
  });
}

export function useTopic(name: string): UseQueryResult<TopicView> {
  return useQuery({
    queryKey: topicKey(name),
    queryFn: ({ signal }) => request<TopicView>("GET", topicPath(name), { signal }),
    refetchInterval: REFRESH_MS,
  });
}

export function useGroups(): UseQueryResult<GroupList> {
  return useQuery({
    queryKey: GROUPS_KEY,
    queryFn: ({ signal }) => request<GroupList>("GET", "/api/groups", { signal }),
    refetchInterval: REFRESH_MS,
  });
}

export function useGroup(name: string): UseQueryResult<GroupView> {
  return useQuery({
    queryKey: groupKey(name),
    queryFn: ({ signal }) => request<GroupView>("GET", groupPath(name), { signal }),
    refetchInterval: REFRESH_MS,
  });
}
