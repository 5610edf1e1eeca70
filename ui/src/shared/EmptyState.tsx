import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  icon?: ReactNode;
  /** Where it is all there is on the page, its title is the page's. */
  isPage?: boolean;
}

/** Nothing is here yet, and what to do about it. */
export function EmptyState({ title, children, action, icon, isPage = false }: EmptyStateProps) {
  return (
    <Stack align="center" justify="center" gap="sm" p="xl" h="100%" ta="center">
      {icon}
      <Text fw={600} component={isPage ? "h1" : "p"}>
        {title}
      </Text>
      {children && (
        <Text size="sm" c="dimmed" maw={420} component="div">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
