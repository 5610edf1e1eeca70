import { Table, Text } from "@mantine/core";
import { useEffect } from "react";
import { readEvents } from "@/api/pipelines";
import type { JobEvent } from "@/api/types";
import { EmptyState } from "@/shared/EmptyState";
import { useDocument } from "@/stores/documentStore";
import { noteEvents, useMetrics } from "@/stores/metricsStore";

const HISTORY_MAX = 100;
const NONE: readonly JobEvent[] = [];

const detailsOf = ({ details }: JobEvent): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== "")
    .map(([key, value]) => `${key.replaceAll("_", " ")} ${written(value)}`)
    .join(" · ");

function written(value: unknown): string {
  if (Array.isArray(value)) return value.map(written).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Events of the job, the newest first: all of them, or those about one node. */
export function EventTable({ node }: { node: string | null }) {
  const pipeline = useDocument((state) => state.pipeline);
  const all = useMetrics((state) => state.events[pipeline] ?? NONE);
  useEffect(() => {
    readEvents(pipeline, HISTORY_MAX)
      .then(({ events }) => noteEvents(pipeline, events))
      .catch(() => undefined); // a pipeline that never ran has none, and a server that is gone is told elsewhere
  }, [pipeline]);
  const events = all.filter((event) => node === null || event.node === node).reverse();
  if (events.length === 0) {
    return (
      <EmptyState title="No events">
        {node
          ? "None of the job's events is about this node."
          : "Starts, stops and errors of the job appear here."}
      </EmptyState>
    );
  }
  return (
    <Table verticalSpacing={2} fz="xs" stickyHeader aria-label="Events">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={96}>Time</Table.Th>
          <Table.Th w={112}>Event</Table.Th>
          <Table.Th>Details</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {events.map((event) => (
          <Table.Tr key={event.number} style={event.kind === "error" ? { color: "var(--hr-bad)" } : {}}>
            <Table.Td style={{ fontVariantNumeric: "tabular-nums" }}>
              {new Date(event.time_ms).toLocaleTimeString()}
            </Table.Td>
            <Table.Td>{event.kind.replaceAll("_", " ")}</Table.Td>
            <Table.Td>
              <Text size="xs" style={{ wordBreak: "break-word" }}>
                {event.node && event.node !== node && <b>{event.node} </b>}
                {detailsOf(event)}
              </Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
