import { Center, Group, Loader, Text } from "@mantine/core";

export function Loading({ what }: { what: string }) {
  return (
    <Center h="100%" p="xl" role="status">
      <Group gap="sm">
        <Loader size="xs" />
        <Text size="sm" c="dimmed">
          Loading {what}…
        </Text>
      </Group>
    </Center>
  );
}
