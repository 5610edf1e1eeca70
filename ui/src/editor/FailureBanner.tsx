import { Alert, Button, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { WaysOut } from "@/drawers/WaysOut";
import { JobFailure } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { selectNodes } from "@/stores/uiStore";

/** The job failed, or is being started again after a failure: where, why, and with which record. */
export function FailureBanner() {
  const pipeline = useDocument((state) => state.pipeline);
  const state = useMetrics((metrics) => metrics.jobs[pipeline]?.state);
  const error = useMetrics((metrics) => metrics.jobs[pipeline]?.error ?? null);
  const node = error?.node ?? null;
  const isKnown = useDocument(({ history }) => node !== null && node in history.present.nodes);
  const waitsFor = useMetrics((metrics) => metrics.jobs[pipeline]?.waitsFor ?? null);
  // One banner through all restarts, as long as the same thing is missing.
  if (waitsFor !== null && (error === null || state === "running" || error.message === waitsFor)) {
    return (
      <Alert color="orange" variant="light" radius={0} p="xs" role="status">
        Waits: {waitsFor}
        {error?.hint && (
          <Text size="xs" c="dimmed">
            {error.hint}
          </Text>
        )}
      </Alert>
    );
  }
  if (error === null || (state !== "failed" && state !== "starting")) return null;
  const what = state === "failed" ? "The job failed" : "The job is being started again after it failed";
  return (
    <Alert
      color={state === "failed" ? "red" : "orange"}
      variant="light"
      radius={0}
      p="sm"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={node ? `${what} at ${node}` : what}
      role="alert"
    >
      <JobFailure error={error} />
      {node && <WaysOut node={node} record={error.record} />}
      {isKnown && (
        <Button mt="sm" variant="default" onClick={() => node && selectNodes([node])}>
          Show {node}
        </Button>
      )}
    </Alert>
  );
}
