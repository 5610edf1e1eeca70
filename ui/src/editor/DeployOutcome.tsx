import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconAlertTriangle, IconArrowBackUp, IconCheck, IconHourglass } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Begin, start } from "@/api/pipelines";
import { ApiProblem } from "@/api/problem";
import { ErrorState } from "@/shared/ErrorState";
import { JobFailure } from "@/shared/JobFailure";
import { DeployProgress } from "./DeployProgress";
import { stepAfter, type Verdict } from "./deployProgress";
import { BeginChoice } from "./StartChoices";
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

/** Runs the version that ran before; the draft stays as it is. Where its queries cannot go on exactly, one chooses where
 * they begin. */
function RollBack({
  pipeline,
  before,
  onDone,
}: {
  pipeline: string;
  before: number | null;
  onDone: () => void;
}) {
  const [begin, setBegin] = useState<Begin | null>(null);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => start(pipeline, before, begin),
    onSuccess: () => {
      notifications.show({ color: "teal", message: `Version ${before} runs again; the draft is kept` });
      onDone();
    },
  });
  if (before === null) return null;
  const isAsked = begin !== null || (error instanceof ApiProblem && error.code === "needs_begin");
  return (
    <Stack gap="sm">
      {error && <ErrorState title={`Version ${before} does not run`} error={error} />}
      {isAsked && <BeginChoice begin={begin} onChange={setBegin} />}
      <Button
        leftSection={<IconArrowBackUp size={14} aria-hidden />}
        loading={isPending}
        disabled={isAsked && begin === null}
        onClick={() => mutate()}
        style={{ alignSelf: "flex-end" }}
      >
        Go back to version {before}
      </Button>
    </Stack>
  );
}
