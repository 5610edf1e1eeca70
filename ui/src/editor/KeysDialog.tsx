import { Group, Kbd, Modal, SimpleGrid, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import { show, useUi } from "@/stores/uiStore";
import type { Group as CommandGroup, EditorCommand } from "./commands";
import { keyNames } from "./keys";

const GROUPS: CommandGroup[] = ["Edit", "Move", "View", "Run"];

/** The sheet of keys. */
export function KeysDialog({ commands }: { commands: readonly EditorCommand[] }) {
  const isOpen = useUi((state) => state.dialog === "keys");
  return (
    <Modal opened={isOpen} onClose={() => show({ dialog: null })} title="Keys" size="xl">
      <SimpleGrid cols={2} spacing="xl">
        {GROUPS.map((group) => (
          <Stack key={group} gap={4}>
            <Text fw={600} size="sm">
              {group}
            </Text>
            {commands
              .filter((command) => command.group === group && command.keys.length > 0)
              .map(({ id, title, keys }) => (
                <Group key={id} justify="space-between" wrap="nowrap">
                  <Text size="sm">{title}</Text>
                  <Keys keys={keys} />
                </Group>
              ))}
          </Stack>
        ))}
      </SimpleGrid>
    </Modal>
  );
}

export function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <Text size="xs" component="span" style={{ whiteSpace: "nowrap" }}>
      {keys.map((written, index) => (
        <Fragment key={written}>
          {index > 0 && " or "}
          {keyNames(written).map((name) => (
            <Kbd key={name} size="xs" ml={2}>
              {name}
            </Kbd>
          ))}
        </Fragment>
      ))}
    </Text>
  );
}
