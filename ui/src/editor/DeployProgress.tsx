import { Group, Loader, Stack, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { presentGraph, useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { type Step, stepOf, touchedNodes } from "./deployProgress";

const SHOWN_MAX = 8;

const WORDS: Readonly<Record<Step, string>> = {
  waiting: "waiting for the start",
  draining: "draining the version that runs",
  switching: "switching to the new version",
  running: "running",
};

/** What happens to each node that the deploy touches, while it is under way. */
export function DeployProgress() {
  const pipeline = useDocument((state) => state.pipeline);
  const changes = useDocument((state) => state.told.changes);
  const state = useMetrics((metrics) => metrics.jobs[pipeline]?.state ?? null);
  const [hadRun] = useState(state === "running");
  const [hasStopped, setHasStopped] = useState(false);
  const [nodes] = useState(() => touchedNodes(changes, Object.keys(presentGraph().nodes)));
  useEffect(() => {
    if (state !== "running") setHasStopped(true);
  }, [state]);
  const step = stepOf(state, hadRun, hasStopped);
  const more = nodes.length - SHOWN_MAX;
  return (
    <Stack gap={4} role="status" aria-label="Progress of the deploy">
      {nodes.slice(0, SHOWN_MAX).map((node) => (
        <Group key={node} gap="sm" wrap="nowrap">
          {step === "running" ? (
            <IconCheck size={14} color="var(--hr-good)" aria-hidden />
          ) : (
            <Loader size={14} aria-hidden />
          )}
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
