import { Button, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "@/api/client";
import { ErrorState } from "@/shared/ErrorState";
import { count, plural } from "@/shared/format";
import { notifyDone } from "../common/notify";
import table from "../common/table.module.css";
import { GROUPS_KEY, groupPath } from "./queries";
import { NEWEST, type Search, type Start, searchProblem, searchQuery } from "./search";
import type { ResetView } from "./types";

const TARGETS: { value: Start; label: string }[] = [
  { value: "earliest", label: "The first message" },
  { value: "latest", label: "After the last message" },
  { value: "offset", label: "An offset" },
  { value: "timestamp", label: "A time" },
];

interface ResetOffsetsProps {
  group: string;
  /** null: closed. */
  topic: string | null;
  onClose: () => void;
}

/** First shows what would change; a second press does it. */
export function ResetOffsets({ group, topic, onClose }: ResetOffsetsProps) {
  return (
    <Modal opened={topic !== null} onClose={onClose} title={`Reset the offsets of ${group}`} centered>
      {topic !== null && <Form group={group} topic={topic} onClose={onClose} />}
    </Modal>
  );
}

function Form({ group, topic, onClose }: { group: string; topic: string; onClose: () => void }) {
  const queryClient = useQueryClient();
  const [target, setTarget] = useState<Search>({ ...NEWEST, start: "earliest" });
  const reset = useMutation({
    mutationFn: (isDryRun: boolean) =>
      request<ResetView>("POST", `${groupPath(group)}/reset`, {
        body: { topic, to: searchQuery(target).from, dry_run: isDryRun },
      }),
    onSuccess: (done) => {
      if (done.dry_run) return;
      void queryClient.invalidateQueries({ queryKey: GROUPS_KEY });
      notifyDone(`Offsets of ${group} were reset on ${topic}`);
      onClose();
    },
  });
  const change = (part: Partial<Search>) => {
    setTarget({ ...target, ...part });
    reset.reset();
  };
  const plan = reset.data?.dry_run ? reset.data.offsets : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        reset.mutate(plan === null);
      }}
    >
      <Stack gap="md">
        <Text size="sm">
          The group reads <strong>{topic}</strong> from another place on. It must have no connected members.
        </Text>
        <Select
          data-autofocus
          label="Read on from"
          data={TARGETS}
          value={target.start}
          onChange={(start) => change({ start: (start ?? "earliest") as Start, at: "" })}
        />
        {(target.start === "offset" || target.start === "timestamp") && (
          <TextInput
            label={target.start === "offset" ? "Offset" : "Time"}
            type={target.start === "offset" ? "text" : "datetime-local"}
            value={target.at}
            error={target.at !== "" && searchProblem(target)}
            onChange={(event) => change({ at: event.currentTarget.value })}
          />
        )}
        {reset.error && <ErrorState title="The offsets were not reset" error={reset.error} />}
        {plan && <Plan offsets={plan} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            color={plan ? "red" : "water"}
            disabled={searchProblem(target) !== null}
            loading={reset.isPending}
          >
            {plan ? `Reset ${plural(plan.length, "partition")}` : "Show what changes"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Plan({ offsets }: { offsets: ResetView["offsets"] }) {
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th className={table.number}>Partition</th>
          <th className={table.number}>Now</th>
          <th className={table.number}>Then</th>
        </tr>
      </thead>
      <tbody>
        {offsets.map(({ partition, old, new: next }) => (
          <tr key={partition}>
            <td className={table.number}>{partition}</td>
            <td className={table.number}>{old === null ? "–" : count(old)}</td>
            <td className={table.number}>{count(next)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
