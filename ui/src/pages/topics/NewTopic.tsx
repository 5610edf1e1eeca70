import { Button, Group, Modal, NumberInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "@/api/client";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { ErrorState } from "@/shared/ErrorState";
import { topicNameProblem } from "./names";
import { TOPICS_KEY } from "./queries";

const PARTITIONS_MAX = 1_000;

interface NewTopicProps {
  isOpen: boolean;
  onClose: () => void;
}

export function NewTopic({ isOpen, onClose }: NewTopicProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New topic" centered>
      {isOpen && <Form onClose={onClose} />}
    </Modal>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [partitions, setPartitions] = useState<number | string>(1);
  const create = useMutation({
    mutationFn: () => request("POST", "/api/topics", { body: { name, partitions: Number(partitions) } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: TOPICS_KEY });
      navigate(paths.topic(name));
    },
  });
  const problem = topicNameProblem(name);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === null) create.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput
          data-autofocus
          required
          label="Name"
          value={name}
          error={problem}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
        />
        <NumberInput
          required
          label="Partitions"
          description="Records keep their order within a partition."
          min={1}
          max={PARTITIONS_MAX}
          value={partitions}
          onChange={setPartitions}
        />
        {create.error && <ErrorState title="The topic could not be made" error={create.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={name === "" || problem !== null} loading={create.isPending}>
            Make the topic
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
