import { Button, Group, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request, withQuery } from "@/api/client";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { count, plural } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import { Panel } from "../common/Panel";
import { MessageSearch } from "./MessageSearch";
import { MessageTable } from "./MessageTable";
import { topicKey, topicPath } from "./queries";
import { NEWEST, PAGE_SIZE, type Search, searchQuery } from "./search";
import type { MessagePage, TopicView } from "./types";

/** Messages by offset or time. The server looks for a limited time; where it was up, one can continue. */
export function MessageBrowser({ topic }: { topic: TopicView }) {
  const [search, setSearch] = useState<Search>(NEWEST);
  const { data, error, isFetching, isPending, refetch, fetchNextPage } = useInfiniteQuery({
    queryKey: [...topicKey(topic.name), "messages", search],
    queryFn: ({ signal, pageParam }) =>
      request<MessagePage>(
        "GET",
        withQuery(`${topicPath(topic.name)}/messages`, { ...searchQuery(search), cursor: pageParam }),
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    // What was found stays as it was found, until one asks again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const pages = data?.pages ?? [];
  const messages = pages.flatMap((page) => page.messages);
  const last = pages.at(-1);
  return (
    <Panel
      title="Messages"
      isTitleHidden
      actions={
        <Group gap="sm" align="flex-end" w="100%">
          <MessageSearch
            partitions={topic.partitions.map(({ id }) => id)}
            search={search}
            onSearch={setSearch}
          />
          <Button
            variant="default"
            leftSection={<IconRefresh size={14} aria-hidden />}
            loading={isFetching}
            onClick={() => void refetch()}
          >
            Read again
          </Button>
        </Group>
      }
    >
      {isPending && <Loading what="messages" />}
      {error && (
        <ErrorState title="The messages could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {messages.length > 0 && <MessageTable messages={messages} />}
      {last && messages.length === 0 && (
        <EmptyState title={last.is_complete ? "No messages here" : "Nothing found yet"}>
          {search.filter && last.is_complete && "Nothing fits the filter."}
        </EmptyState>
      )}
      {last && (
        <Group gap="md" px="md" py="sm" justify="space-between">
          <Text size="xs" c="dimmed" role="status">
            {plural(messages.length, "message")} of{" "}
            {count(pages.reduce((sum, page) => sum + page.scanned, 0))} looked at, in{" "}
            {count(pages.reduce((sum, page) => sum + page.took_ms, 0))} ms
            {last.next !== null && last.messages.length < PAGE_SIZE && ". The time was up before the end"}
          </Text>
          {last.next !== null && (
            <Button variant="default" loading={isFetching} onClick={() => void fetchNextPage()}>
              Continue
            </Button>
          )}
        </Group>
      )}
    </Panel>
  );
}
