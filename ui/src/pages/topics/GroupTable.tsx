import { VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { count } from "@/shared/format";
import { Loading } from "@/shared/Loading";
import { Panel } from "../common/Panel";
import { RowOpener } from "../common/RowOpener";
import table from "../common/table.module.css";
import { GroupDetail } from "./GroupDetail";
import { useGroups } from "./queries";
import type { GroupEntry } from "./types";

const COLUMNS = 6;

/** Consumer groups with their lag: of one topic, or all. */
export function GroupTable({ topic }: { topic: string | null }) {
  const { data, error, refetch } = useGroups();
  if (!data && error) {
    return (
      <ErrorState
        title="The consumer groups could not be read"
        error={error}
        onRetry={() => void refetch()}
      />
    );
  }
  if (!data) return <Loading what="the consumer groups" />;
  const groups = data.groups.filter((group) => topic === null || group.topics.includes(topic));
  if (groups.length === 0) {
    return (
      <EmptyState title={topic === null ? "No consumer groups" : "No consumer group reads this topic"}>
        A group appears here when a Kafka client commits offsets in its name. Pipelines keep theirs in the
        log.
      </EmptyState>
    );
  }
  return (
    <Panel title="Consumer groups" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.fit}>
              <VisuallyHidden>Open</VisuallyHidden>
            </th>
            <th>Group</th>
            <th>State</th>
            <th>Topics</th>
            <th className={table.number}>Members</th>
            <th className={table.number}>Lag</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <GroupRow key={group.name} group={group} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function GroupRow({ group }: { group: GroupEntry }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <tr className={table.row}>
        <RowOpener isOpen={isOpen} label={`Offsets of ${group.name}`} onToggle={() => setIsOpen(!isOpen)} />
        <td>{group.name}</td>
        <td>{group.state}</td>
        <td>{group.topics.join(", ") || "–"}</td>
        <td className={table.number}>{count(group.members)}</td>
        <td className={table.number}>{count(group.lag)}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={COLUMNS}>
            <GroupDetail name={group.name} />
          </td>
        </tr>
      )}
    </>
  );
}
