import { Button, Group, Progress, Text } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { request, withQuery } from "@/api/client";
import { readHashSearch } from "@/app/hashLocation";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { count, plural } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import { Panel } from "../common/Panel";
import { MessageSearch } from "./MessageSearch";
import { MessageTable } from "./MessageTable";
import { topicKey, topicPath } from "./queries";
import { PAGE_SIZE, type Search, searchOf, searchQuery } from "./search";
import type { MessagePage, TopicView } from "./types";

/**
 * Messages by offset or time. The server looks for a limited time at once and keeps nothing: a search goes on, request
 * by request, until a page is full, all is read, or it is stopped. Whoever leaves the page ends it.
 */
export function MessageBrowser({ topic }: { topic: TopicView }) {
  const [search, setSearch] = useState<Search>(() => searchOf(readHashSearch()));
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
  const scanned = pages.reduce((sum, page) => sum + page.scanned, 0);
  /** How many messages are to be found before the search rests. */
  const [wanted, setWanted] = useState(PAGE_SIZE);
  const isSearching = last !== undefined && last.next !== null && messages.length < wanted && error === null;
  // By `last` too: an answer may be there before its request was drawn, so that `isFetching` never changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, last, fetchNextPage]);
  const ask = (next: Search) => {
    setWanted(PAGE_SIZE);
    setSearch(next);
  };
  const again = () => {
    setWanted(PAGE_SIZE);
    void refetch();
  };
  return (
    <Panel
      title="Messages"
      isTitleHidden
      actions={
        <Group gap="sm" align="flex-end" w="100%">
          <MessageSearch partitions={topic.partitions.map(({ id }) => id)} search={search} onSearch={ask} />
          <Button
            variant="default"
            leftSection={<IconRefresh size={14} aria-hidden />}
            loading={isFetching && !isSearching}
            onClick={again}
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
            {plural(messages.length, "message")} of {count(scanned)} looked at, in{" "}
            {count(pages.reduce((sum, page) => sum + page.took_ms, 0))} ms
            {last.remaining > 0 && `; ${count(last.remaining)} to go`}
          </Text>
          {isSearching && (
            <Progress
              flex={1}
              maw={320}
              value={(100 * scanned) / Math.max(1, scanned + last.remaining)}
              aria-label="How far the search is"
            />
          )}
          {isSearching && (
            <Button variant="default" onClick={() => setWanted(messages.length)}>
              Stop the search
            </Button>
          )}
          {!isSearching && last.next !== null && (
            <Button
              variant="default"
              loading={isFetching}
              onClick={() => setWanted(messages.length + PAGE_SIZE)}
            >
              Continue
            </Button>
          )}
        </Group>
      )}
    </Panel>
  );
}
