import { ActionIcon, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { start, stop } from "@/api/pipelines";
import { messageOf } from "@/api/problem";
import { useDocument } from "@/stores/documentStore";
import { jobKey, useJob } from "./useJobState";

const IS_UP = new Set(["starting", "running", "stopping"]);

/** Starts the latest version, or stops what runs. A pipeline that was never deployed has nothing to start. */
export function RunButtons({ pipeline }: { pipeline: string }) {
  const { state } = useJob(pipeline);
  const hasVersion = useDocument((document) => document.told.latestVersion > 0);
  const queries = useQueryClient();
  const isUp = state !== null && IS_UP.has(state);
  const { mutate, isPending } = useMutation({
    mutationFn: () => (isUp ? stop(pipeline) : start(pipeline)),
    onSettled: () => queries.invalidateQueries({ queryKey: jobKey(pipeline) }),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
  });
  if (!isUp && !hasVersion) return null;
  const label = isUp ? "Stop the pipeline" : "Start the latest version";
  const Icon = isUp ? IconPlayerStop : IconPlayerPlay;
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        aria-label={label}
        loading={isPending || state === "stopping"}
        onClick={() => mutate()}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
