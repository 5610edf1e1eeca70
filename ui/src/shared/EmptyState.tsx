import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  icon?: ReactNode;
}

/** Nothing is here yet, and what to do about it. */
export function EmptyState({ title, children, action, icon }: EmptyStateProps) {
  return (
    <Stack align="center" justify="center" gap="sm" p="xl" h="100%" ta="center">
      {icon}
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" maw={420} component="div">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
