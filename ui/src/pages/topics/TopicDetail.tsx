import { Anchor, Button, Tabs, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { request } from "@/api/client";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { ErrorState } from "@/shared/ErrorState";
import { bytes, plural } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import { ConfirmByName } from "../common/ConfirmByName";
import { notifyFailure } from "../common/notify";
import { Page } from "../common/Page";
import { GroupTable } from "./GroupTable";
import { MessageBrowser } from "./MessageBrowser";
import { Partitions } from "./Partitions";
import { Produce } from "./Produce";
import { TOPICS_KEY, topicPath, useTopic } from "./queries";
import { TopicSettings } from "./TopicSettings";
import type { TopicView } from "./types";

interface TopicDetailProps {
  name: string;
  view: string;
  onView: (view: string | null) => void;
}

export function TopicDetail({ name, view, onView }: TopicDetailProps) {
  const { data: topic, error, refetch } = useTopic(name);
  const title = (
    <>
      <Anchor component={Link} href={paths.topics} inherit underline="always" c="var(--hr-text-soft)">
        Topics
      </Anchor>
      {" / "}
      {name}
    </>
  );
  return (
    <Page title={title} actions={topic && !topic.is_internal && <DeleteTopic topic={topic} />}>
      {!topic && !error && <Loading what="the topic" />}
      {!topic && error && (
        <ErrorState title="The topic could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {topic && (
        <>
          <Text size="sm" c="dimmed" mb="md">
            {plural(topic.messages, "message")} in {plural(topic.partitions.length, "partition")}
            {topic.bytes !== null && `, ${bytes(topic.bytes)}`}
          </Text>
          <Tabs value={view} onChange={onView} keepMounted={false}>
            <Tabs.List mb="md" aria-label={`Parts of ${name}`}>
              <Tabs.Tab value="messages">Messages</Tabs.Tab>
              <Tabs.Tab value="produce">Produce</Tabs.Tab>
              <Tabs.Tab value="partitions">Partitions</Tabs.Tab>
              <Tabs.Tab value="settings">Settings</Tabs.Tab>
              <Tabs.Tab value="groups">Consumer groups</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="messages">
              <MessageBrowser topic={topic} />
            </Tabs.Panel>
            <Tabs.Panel value="produce">
              <Produce topic={topic} />
            </Tabs.Panel>
            <Tabs.Panel value="partitions">
              <Partitions topic={topic} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <TopicSettings topic={topic} />
            </Tabs.Panel>
            <Tabs.Panel value="groups">
              <GroupTable topic={name} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Page>
  );
}

function DeleteTopic({ topic }: { topic: TopicView }) {
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => request("DELETE", topicPath(topic.name)),
    onSuccess: () => {
      navigate(paths.topics);
      void queryClient.invalidateQueries({ queryKey: TOPICS_KEY, exact: true });
    },
    onError: (error) => notifyFailure(`${topic.name} could not be deleted`, error),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTrash size={14} aria-hidden />}
        onClick={() => setIsAsking(true)}
      >
        Delete…
      </Button>
      <ConfirmByName
        isOpen={isAsking}
        title={`Delete ${topic.name}?`}
        name={topic.name}
        action="Delete the topic"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={() => setIsAsking(false)}
      >
        {plural(topic.messages, "message")} will be gone for good. Pipelines that read this topic will fail.
      </ConfirmByName>
    </>
  );
}
