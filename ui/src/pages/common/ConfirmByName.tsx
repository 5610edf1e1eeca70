import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";

interface ConfirmByNameProps {
  isOpen: boolean;
  title: string;
  /** What must be typed. */
  name: string;
  action: string;
  isBusy: boolean;
  children: ReactNode;
  onConfirm: () => void;
  onClose: () => void;
}

/** For what cannot be undone: the button works once the name has been typed. */
export function ConfirmByName({ isOpen, onClose, title, ...rest }: ConfirmByNameProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} centered>
      {isOpen && <Question onClose={onClose} {...rest} />}
    </Modal>
  );
}

function Question({
  name,
  action,
  isBusy,
  children,
  onConfirm,
  onClose,
}: Omit<ConfirmByNameProps, "isOpen" | "title">) {
  const [typed, setTyped] = useState("");
  const isRight = typed === name;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight && !isBusy) onConfirm();
      }}
    >
      <Stack gap="md">
        <Text size="sm">{children}</Text>
        <TextInput
          data-autofocus
          label={`Type ${name} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" disabled={!isRight} loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
