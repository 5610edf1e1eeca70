import { Button, Group, Switch, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import { paths } from "@/app/paths";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { bytes, count } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import { Page } from "../common/Page";
import { Panel } from "../common/Panel";
import table from "../common/table.module.css";
import { NewTopic } from "./NewTopic";
import { useTopics } from "./queries";
import type { TopicEntry } from "./types";
import { ViewSwitch } from "./ViewSwitch";

interface TopicTableProps {
  onView: (view: string | null) => void;
}

export function TopicTable({ onView }: TopicTableProps) {
  const { data, error, refetch } = useTopics();
  const [search, setSearch] = useState("");
  const [isInternalShown, setIsInternalShown] = useState(false);
  const [isAdding, setIsAdding] = useState(false);
  const topics = data?.topics.filter((topic) => isInternalShown || !topic.is_internal);
  const found = topics?.filter((topic) => topic.name.toLowerCase().includes(search.trim().toLowerCase()));
  const add = (
    <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setIsAdding(true)}>
      New topic
    </Button>
  );
  return (
    <Page title="Topics" actions={add}>
      <Group gap="md" mb="md">
        <ViewSwitch view="topics" onView={onView} />
        <TextInput
          aria-label="Find a topic"
          placeholder="Find a topic"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Switch
          size="xs"
          label="Internal topics"
          checked={isInternalShown}
          onChange={(event) => setIsInternalShown(event.currentTarget.checked)}
        />
      </Group>
      {!data && !error && <Loading what="the topics" />}
      {!data && error && (
        <ErrorState title="The topics could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {found && found.length > 0 && <Rows topics={found} />}
      {topics && found?.length === 0 && (
        <EmptyState title={topics.length === 0 ? "No topics yet" : "No topic of this name"}>
          {topics.length === 0 &&
            "Pipelines make the topics that they write to. Any Kafka client can make one too, or make one here."}
        </EmptyState>
      )}
      <NewTopic isOpen={isAdding} onClose={() => setIsAdding(false)} />
    </Page>
  );
}

function Rows({ topics }: { topics: TopicEntry[] }) {
  return (
    <Panel title="Topics" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th>Name</th>
            <th className={table.number}>Partitions</th>
            <th className={table.number}>Messages</th>
            <th className={table.number}>Size</th>
          </tr>
        </thead>
        <tbody>
          {topics.map((topic) => (
            <tr key={topic.name} className={table.row}>
              <td>
                <Link href={paths.topic(topic.name)} className={table.name ?? ""}>
                  {topic.name}
                </Link>
              </td>
              <td className={table.number}>{count(topic.partitions)}</td>
              <td className={table.number}>{count(topic.messages)}</td>
              <td className={table.number}>{bytes(topic.bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
