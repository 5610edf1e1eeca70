import { Group, Loader, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import type { Step } from "./deployProgress";

const SHOWN_MAX = 8;

const WORDS: Readonly<Record<Step, string>> = {
  waiting: "waiting for the start",
  draining: "draining the version that runs",
  switching: "switching to the new version",
  verifying: "running, waiting for its first batch",
  started: "started",
  verified: "verified",
  failed: "failed",
};

/** What happens to each node that the deploy touches. */
export function DeployProgress({ nodes, step }: { nodes: readonly string[]; step: Step }) {
  const more = nodes.length - SHOWN_MAX;
  return (
    <Stack gap={4} role="status" aria-label="Progress of the deploy">
      {nodes.slice(0, SHOWN_MAX).map((node) => (
        <Group key={node} gap="sm" wrap="nowrap">
          <Mark step={step} />
          <Text size="sm" fw={600} truncate title={node}>
            {node}
          </Text>
          <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            {WORDS[step]}
          </Text>
        </Group>
      ))}
      {more > 0 && (
        <Text size="sm" c="dimmed">
          and {more} more
        </Text>
      )}
    </Stack>
  );
}

function Mark({ step }: { step: Step }) {
  if (step === "verified" || step === "started")
    return <IconCheck size={14} color="var(--hr-good)" aria-hidden />;
  if (step === "failed") return <IconAlertTriangle size={14} color="var(--hr-bad)" aria-hidden />;
  return <Loader size={14} aria-hidden />;
}
