import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { ErrorState } from "@/shared/ErrorState";
import { count, plural } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import table from "../common/table.module.css";
import { useGroup } from "./queries";
import { ResetOffsets } from "./ResetOffsets";

/** Members and offsets of one group, and the way to set them anew. */
export function GroupDetail({ name }: { name: string }) {
  const { data: group, error, refetch } = useGroup(name);
  const [resetTopic, setResetTopic] = useState<string | null>(null);
  if (!group && error) {
    return <ErrorState title="The group could not be read" error={error} onRetry={() => void refetch()} />;
  }
  if (!group) return <Loading what="the group" />;
  const topics = [...new Set(group.offsets.map((offset) => offset.topic))];
  return (
    <>
      <Group justify="space-between" gap="sm" mb="sm">
        <Text size="sm" c="dimmed">
          {group.members.length === 0
            ? "No member is connected"
            : `${plural(group.members.length, "member")}: ${group.members.map((member) => member.client_id).join(", ")}`}
        </Text>
        <Group gap="sm">
          {topics.map((topic) => (
            <Button key={topic} variant="default" onClick={() => setResetTopic(topic)}>
              Reset offsets of {topic}…
            </Button>
          ))}
        </Group>
      </Group>
      <table className={table.table}>
        <thead>
          <tr>
            <th>Topic</th>
            <th className={table.number}>Partition</th>
            <th className={table.number}>Committed</th>
            <th className={table.number}>End</th>
            <th className={table.number}>Lag</th>
          </tr>
        </thead>
        <tbody>
          {group.offsets.map((offset) => (
            <tr key={`${offset.topic} ${offset.partition}`}>
              <td>{offset.topic}</td>
              <td className={table.number}>{offset.partition}</td>
              <td className={table.number}>{offset.committed === null ? "–" : count(offset.committed)}</td>
              <td className={table.number}>{count(offset.end_offset)}</td>
              <td className={table.number}>{offset.lag === null ? "–" : count(offset.lag)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ResetOffsets group={name} topic={resetTopic} onClose={() => setResetTopic(null)} />
    </>
  );
}
