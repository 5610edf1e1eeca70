import { Code, Stack, Text } from "@mantine/core";
import type { JobError } from "@/api/types";

const RECORD_HEIGHT_PX = 160;

/** Tracebacks follow the sentence that counts. */
export const firstLine = (message: string): string => message.split("\n", 1)[0] ?? "";

/** Why a job failed: the sentence, what helps, the record at fault, and the rest for those who want it. */
export function JobFailure({ error }: { error: JobError }) {
  const rest = error.message.slice(firstLine(error.message).length).trim();
  return (
    <Stack gap={4}>
      <Text size="sm" style={{ wordBreak: "break-word" }}>
        {firstLine(error.message)}
      </Text>
      {error.hint && (
        <Text size="sm" c="dimmed">
          {error.hint}
        </Text>
      )}
      {error.record && (
        <Code
          block
          mah={RECORD_HEIGHT_PX}
          style={{ overflow: "auto" }}
          aria-label="The record at fault"
          tabIndex={0}
        >
          {JSON.stringify(error.record, null, 2)}
        </Code>
      )}
      {rest && (
        <details>
          <Text component="summary" size="xs" c="dimmed">
            Traceback
          </Text>
          <Code block mah={RECORD_HEIGHT_PX} style={{ overflow: "auto" }} tabIndex={0}>
            {rest}
          </Code>
        </details>
      )}
    </Stack>
  );
}
