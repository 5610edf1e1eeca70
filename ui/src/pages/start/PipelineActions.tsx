import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconHistory, IconPlayerPlay, IconPlayerStop, IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request, segment } from "@/api/client";
import type { PipelineEntry } from "@/api/types";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { ConfirmByName } from "../common/ConfirmByName";
import { notifyFailure } from "../common/notify";
import { PIPELINES_KEY } from "./queries";

type Action = "start" | "stop" | "delete";
const DONE: Record<Action, string> = { start: "started", stop: "stopped", delete: "deleted" };

export function PipelineActions({ pipeline }: { pipeline: PipelineEntry }) {
  const { name, job, latest } = pipeline;
  const [isAsking, setIsAsking] = useState(false);
  const act = useAct(name, () => setIsAsking(false));
  const isRunning = job !== null && job.state !== "stopped" && job.state !== "failed";
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Actions for ${name}`}
            loading={act.isPending}
          >
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isRunning ? (
            <Menu.Item leftSection={<IconPlayerStop size={14} />} onClick={() => act.mutate("stop")}>
              Stop
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconPlayerPlay size={14} />}
              disabled={latest === null}
              onClick={() => act.mutate("start")}
            >
              Start
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconHistory size={14} />}
            disabled={latest === null}
            onClick={() => navigate(paths.versions(name))}
          >
            Versions
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconTrash size={14} />}
            c="var(--hr-bad)"
            onClick={() => setIsAsking(true)}
          >
            Delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmByName
        isOpen={isAsking}
        title={`Delete ${name}?`}
        name={name}
        action="Delete the pipeline"
        isBusy={act.isPending}
        onConfirm={() => act.mutate("delete")}
        onClose={() => setIsAsking(false)}
      >
        It is stopped; its versions and its draft are removed. Topics stay as they are.
      </ConfirmByName>
    </>
  );
}

function useAct(name: string, onDone: () => void) {
  const queryClient = useQueryClient();
  const path = `/api/pipelines/${segment(name)}`;
  return useMutation({
    mutationFn: (action: Action) => {
      if (action === "delete") return request("DELETE", path);
      return request("POST", `${path}/${action}`, action === "start" ? { body: {} } : {});
    },
    onSuccess: onDone,
    onError: (error, action) => notifyFailure(`${name} could not be ${DONE[action]}`, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: PIPELINES_KEY }),
  });
}
