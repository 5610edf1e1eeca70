import { ActionIcon, Modal, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPlayerPause, IconPlayerPlay, IconPlayerStop, type TablerIcon } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useConnection } from "@/api/connection";
import { start, stop } from "@/api/pipelines";
import { messageOf } from "@/api/problem";
import { useDocument } from "@/stores/documentStore";
import { togglePause } from "./pausing";
import { asksForBegin } from "./Refusal";
import { StartVersion } from "./StartVersion";
import { jobKey, useJob } from "./useJobState";

const IS_UP = new Set(["starting", "running", "paused", "stopping"]);

/** Starts the version that ran last (the newest if none ran), or pauses, resumes and stops what runs. What was never deployed cannot be started. */
export function RunButtons({ pipeline }: { pipeline: string }) {
  const { state } = useJob(pipeline);
  const hasVersion = useDocument((document) => document.told.latestVersion > 0);
  const queries = useQueryClient();
  const isOnline = useConnection((connection) => connection.isOnline);
  const isUp = state !== null && IS_UP.has(state);
  const refresh = () => queries.invalidateQueries({ queryKey: jobKey(pipeline) });
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: () => (isUp ? stop(pipeline) : start(pipeline)),
    onSettled: refresh,
    onError: (refusal) => {
      if (!asksForBegin(refusal)) notifications.show({ color: "red", message: messageOf(refusal) });
    },
  });
  // What the state is, nobody knows while the server is gone: nothing to press then.
  if (!isOnline || (!isUp && !hasVersion)) return null;
  return (
    <>
      <PauseButton pipeline={pipeline} />
      <RunButton
        label={isUp ? "Stop the pipeline" : "Start the version that ran last"}
        icon={isUp ? IconPlayerStop : IconPlayerPlay}
        isBusy={isPending || state === "stopping"}
        onClick={() => mutate()}
      />
      <Modal opened={asksForBegin(error)} onClose={reset} title={`Start ${pipeline}`} size="lg">
        <StartVersion
          pipeline={pipeline}
          version={null}
          label="Start"
          icon={<IconPlayerPlay size={14} aria-hidden />}
          refused={error}
          onDone={() => {
            reset();
            void refresh();
          }}
        />
      </Modal>
    </>
  );
}

/** Where signals cannot reach the pipeline, the button says why. */
function PauseButton({ pipeline }: { pipeline: string }) {
  const { job, state } = useJob(pipeline);
  const { mutate, isPending } = useMutation({ mutationFn: togglePause });
  if (state !== "running" && state !== "paused") return null;
  const isPaused = state === "paused";
  return (
    <RunButton
      label={isPaused ? "Resume the pipeline" : "Pause the pipeline"}
      icon={isPaused ? IconPlayerPlay : IconPlayerPause}
      refusal={job?.signals_refused ?? null}
      isBusy={isPending}
      onClick={() => mutate()}
    />
  );
}

interface RunButtonProps {
  label: string;
  icon: TablerIcon;
  refusal?: string | null;
  isBusy: boolean;
  onClick: () => void;
}

function RunButton({ label, icon: Icon, refusal = null, isBusy, onClick }: RunButtonProps) {
  return (
    <Tooltip label={refusal === null ? label : `Cannot be paused: ${refusal}`} multiline maw={320}>
      <ActionIcon
        variant="default"
        aria-label={label}
        aria-disabled={refusal !== null}
        data-disabled={refusal !== null}
        loading={isBusy}
        onClick={refusal === null ? onClick : undefined}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
