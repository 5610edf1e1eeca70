import { Code, Group, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { LEVELS, useLevel, useSchema, useSetLevel, useVersionNumbers } from "./queries";

const HEIGHT_MAX_PX = 360;

/** The versions of a subject, what a new one must be compatible with, and the schema itself. */
export function SubjectDetail({ subject }: { subject: string }) {
  const { data: versions, error, refetch } = useVersionNumbers(subject);
  const [chosen, setChosen] = useState<string | null>(null);
  if (!versions && error) {
    return <ErrorState title="The versions could not be read" error={error} onRetry={() => void refetch()} />;
  }
  if (!versions) return <Loading what="the versions" />;
  const newest = versions.at(-1);
  const version = chosen === null ? newest : Number(chosen);
  return (
    <Stack gap="sm" py="xs">
      <Group gap="md" align="flex-end">
        <Select
          label="Version"
          data={versions.map(String).reverse()}
          value={version === undefined ? null : `${version}`}
          allowDeselect={false}
          onChange={setChosen}
          w={120}
        />
        <Compatibility subject={subject} />
      </Group>
      <SchemaText subject={subject} version={version} />
    </Stack>
  );
}

function Compatibility({ subject }: { subject: string }) {
  const { data: level } = useLevel(subject);
  const { mutate, isPending } = useSetLevel(subject);
  return (
    <Select
      label="Compatibility"
      data={[...LEVELS]}
      value={level ?? null}
      disabled={level === undefined || isPending}
      allowDeselect={false}
      onChange={(next) => next !== null && next !== level && mutate(next)}
      w={220}
    />
  );
}

function SchemaText({ subject, version }: { subject: string; version: number | undefined }) {
  const { data: entry, error, refetch } = useSchema(subject, version);
  if (!entry && error) {
    return <ErrorState title="The schema could not be read" error={error} onRetry={() => void refetch()} />;
  }
  if (!entry) return <Loading what="the schema" />;
  return (
    <>
      <Text size="sm" c="dimmed">
        {entry.schemaType}, id {entry.id}
      </Text>
      <Code
        block
        mah={HEIGHT_MAX_PX}
        style={{ overflow: "auto" }}
        tabIndex={0}
        aria-label={`Schema of ${subject}`}
      >
        {readable(entry.schema)}
      </Code>
    </>
  );
}

/** Avro and JSON Schema are written on one line by most clients; Protobuf is no JSON. */
export function readable(schema: string): string {
  try {
    return JSON.stringify(JSON.parse(schema), null, 2);
  } catch {
    return schema;
  }
}
