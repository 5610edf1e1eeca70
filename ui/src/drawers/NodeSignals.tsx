import { Button, Group, Select, Stack, Text, Textarea } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconSend } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { sendSignal } from "@/api/pipelines";
import { messageOf } from "@/api/problem";
import { useNodeState } from "@/canvas/nodeMarks";
import { useJob } from "@/editor/useJobState";
import { useDocument } from "@/stores/documentStore";
import { parametersOf } from "./signalParameters";

/** Signals that can be for one node alone. */
const KINDS = [
  { value: "close_window", label: "Close the windows" },
  { value: "refresh_state", label: "Refresh the state" },
  { value: "update_parameters", label: "Change settings" },
  { value: "custom", label: "Custom" },
] as const;

type NodeKind = (typeof KINDS)[number]["value"];

const WITH_PARAMETERS: ReadonlySet<NodeKind> = new Set(["update_parameters", "custom"]);

/** Sends a signal to a node that runs; the events below tell what became of it. */
export function NodeSignals({ id }: { id: string }) {
  const pipeline = useDocument((state) => state.pipeline);
  const state = useNodeState(id);
  const refusal = useJob(pipeline).job?.signals_refused ?? null;
  if (state !== "running" && state !== "paused") return null;
  if (refusal !== null) {
    return (
      <Text size="xs" c="dimmed" p="sm">
        No signal can be sent to it: {refusal}
      </Text>
    );
  }
  return <SignalForm pipeline={pipeline} node={id} />;
}

function SignalForm({ pipeline, node }: { pipeline: string; node: string }) {
  const [kind, setKind] = useState<NodeKind>("close_window");
  const [text, setText] = useState("");
  const isWithParameters = WITH_PARAMETERS.has(kind);
  const parameters = isWithParameters ? parametersOf(text) : {};
  const { mutate, isPending } = useMutation({
    mutationFn: () => sendSignal(pipeline, { kind, node, parameters: parameters ?? {} }),
    onSuccess: () => notifications.show({ message: "The signal has its place in the topics." }),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
  });
  return (
    <Stack gap="sm" p="sm">
      <Group gap="sm" align="flex-end" wrap="nowrap">
        <Select
          label="Signal"
          data={[...KINDS]}
          value={kind}
          allowDeselect={false}
          onChange={(chosen) => setKind((chosen ?? kind) as NodeKind)}
          flex={1}
        />
        <Button
          variant="default"
          leftSection={<IconSend size={14} aria-hidden />}
          loading={isPending}
          disabled={parameters === null}
          onClick={() => mutate()}
        >
          Send
        </Button>
      </Group>
      {isWithParameters && (
        <Textarea
          label="Parameters"
          placeholder='{"threshold": 0.9}'
          autosize
          minRows={1}
          maxRows={6}
          value={text}
          error={parameters === null && 'A JSON object, such as {"threshold": 0.9}'}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
    </Stack>
  );
}
