import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { ErrorState } from "@/shared/ErrorState";
import { useCreatePipeline } from "./create";
import { freeName, nameProblem } from "./names";

interface NewPipelineProps {
  isOpen: boolean;
  taken: ReadonlySet<string>;
  onClose: () => void;
}

export function NewPipeline({ isOpen, taken, onClose }: NewPipelineProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="New pipeline" centered>
      {isOpen && <Form taken={taken} onClose={onClose} />}
    </Modal>
  );
}

function Form({ taken, onClose }: Omit<NewPipelineProps, "isOpen">) {
  const [name, setName] = useState(() => freeName("my-pipeline", taken));
  const create = useCreatePipeline();
  const problem = nameProblem(name, taken);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name && !problem) create.mutate({ name, from: { kind: "blank" } });
      }}
    >
      <Stack gap="md">
        <TextInput
          data-autofocus
          label="Name"
          value={name}
          error={problem}
          onChange={(event) => setName(event.currentTarget.value)}
          onFocus={(event) => event.currentTarget.select()}
          autoComplete="off"
        />
        {create.error && <ErrorState title="It could not be made" error={create.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={!name || problem !== null} loading={create.isPending}>
            Open the canvas
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
