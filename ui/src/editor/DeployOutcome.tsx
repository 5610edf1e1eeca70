import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconArrowBackUp, IconCheck, IconHourglass } from "@tabler/icons-react";
import { JobFailure } from "@/shared/JobFailure";
import { DeployProgress } from "./DeployProgress";
import { stepAfter, type Verdict } from "./deployProgress";
import { StartVersion } from "./StartVersion";
import type { Deployment } from "./useDeployment";

/** What is said of a version: its title, and how that is known. */
const WORDS: Readonly<Record<Exclude<Verdict, "failed" | null>, readonly [string, string]>> = {
  progressed: ["is verified", "It runs and has finished its first batch."],
  idle: ["is verified", "It runs and has read everything that is there."],
  paused: ["is verified", "It runs and is paused by a signal, as the version before."],
  ended: ["is verified", "It ran to the end of its sources, or was stopped."],
  rowless: ["is started", "It waits for the first rows: its sources have given none yet."],
  slow: ["is starting", "That takes longer than usual. The canvas shows when it runs."],
};

interface DeployOutcomeProps {
  pipeline: string;
  deployment: Deployment;
  onClose: () => void;
}

/** The steps of a deploy, and whether the new version does its work or why it does not. */
export function DeployOutcome({ pipeline, deployment, onClose }: DeployOutcomeProps) {
  const { version, verdict, nodes, step } = deployment;
  return (
    <Stack gap="sm">
      <DeployProgress nodes={nodes} step={step} />
      <Judgement deployment={deployment} />
      {verdict === "failed" && <RollBack pipeline={pipeline} before={deployment.before} onDone={onClose} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus disabled={version === null}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}

function Judgement({ deployment: { version, verdict, job } }: { deployment: Deployment }) {
  if (version === null) return null;
  if (verdict === "failed") {
    return (
      <Alert
        role="alert"
        color="red"
        variant="light"
        icon={<IconAlertTriangle size={18} aria-hidden />}
        title={`Version ${version} failed${job?.error?.node ? ` at ${job.error.node}` : ""}`}
      >
        {job?.error && <JobFailure error={job.error} />}
      </Alert>
    );
  }
  if (verdict === null) {
    return (
      <Text size="sm" c="dimmed">
        Version {version} is deployed and starts its work.
        {job?.error ? ` It is being started again: ${job.error.message}` : " You need not wait for it."}
      </Text>
    );
  }
  const [title, text] = WORDS[verdict];
  const isVerified = stepAfter(verdict) === "verified";
  return (
    <Alert
      role="status"
      color={isVerified ? "teal" : "gray"}
      variant="light"
      icon={isVerified ? <IconCheck size={18} aria-hidden /> : <IconHourglass size={18} aria-hidden />}
      title={`Version ${version} ${title}`}
    >
      {text}
    </Alert>
  );
}

/** Runs the version that ran before; the draft stays as it is. */
function RollBack({
  pipeline,
  before,
  onDone,
}: {
  pipeline: string;
  before: number | null;
  onDone: () => void;
}) {
  if (before === null) return null;
  return (
    <StartVersion
      pipeline={pipeline}
      version={before}
      label={`Go back to version ${before}`}
      icon={<IconArrowBackUp size={14} aria-hidden />}
      onDone={() => {
        notifications.show({ color: "teal", message: `Version ${before} runs again; the draft is kept` });
        onDone();
      }}
    />
  );
}
