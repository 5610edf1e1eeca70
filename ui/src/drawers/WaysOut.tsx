import { Button, Group, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Json } from "@/api/types";
import { paths } from "@/app/paths";
import { execute, useDocument } from "@/stores/documentStore";
import { placeOf } from "./recordPlace";

interface WaysOutProps {
  node: string;
  /** The record at fault, where it is known. */
  record?: Readonly<Record<string, unknown>> | null;
}

/** What can be done about records that cannot be read and rows that an expression fails for: look at one, drop them, or
 * keep them in a dead-letter topic. A node of expressions without a policy of its own has that of its topic. */
export function WaysOut({ node: id, record = null }: WaysOutProps) {
  const node = useDocument((state) => state.history.present.nodes[id]);
  const place = placeOf(record);
  const isTopic = node?.operator === "topic";
  const hasPolicy = isTopic || node?.operator === "select" || node?.operator === "filter";
  if (!place && !hasPolicy) return null;
  const policy = node?.config.on_error ?? node?.config.bad_rows ?? (isTopic ? "drop" : null);
  const letters = node?.config.dead_letter;
  const set = (changes: Record<string, Json>) => {
    if (!node) return;
    const { on_error: _policy, bad_rows: _older, dead_letter: _letters, ...others } = node.config;
    execute({ kind: "configure", id, config: { ...others, ...changes } });
  };
  return (
    <Group gap="xs" mt="xs">
      {place && (
        <Button
          size="compact-xs"
          variant="default"
          component={Link}
          href={paths.record(place.topic, place.partition, place.offset)}
        >
          Open at offset {place.offset}
        </Button>
      )}
      {hasPolicy && policy !== "drop" && policy !== "dead_letter" && (
        <Button size="compact-xs" variant="default" onClick={() => set({ on_error: "drop" })}>
          {isTopic ? "Drop bad records" : "Drop such rows"}
        </Button>
      )}
      {hasPolicy && policy !== "dead_letter" && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => set({ on_error: "dead_letter", dead_letter: `${node.config.topic ?? id}-bad` })}
        >
          Send them to a dead-letter topic
        </Button>
      )}
      {hasPolicy && typeof letters === "string" && (
        <Button size="compact-xs" variant="default" component={Link} href={paths.topic(letters)}>
          Open the dead letters in {letters}
        </Button>
      )}
      {hasPolicy && policy === "drop" && (
        <Text size="xs" c="dimmed">
          They are dropped and counted. A dead-letter topic keeps each with its offset and reason.
        </Text>
      )}
    </Group>
  );
}
