import { ActionIcon, Group, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./Drawer.module.css";

interface DrawerProps {
  title: string;
  subtitle?: string;
  icon?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** The docked panel on the right. */
export function Drawer({ title, subtitle, icon, onClose, children }: DrawerProps) {
  return (
    <aside className={classes.drawer} aria-label={title}>
      <Group className={classes.head} gap="sm" wrap="nowrap">
        {icon}
        <div className={classes.titles}>
          <Text className={classes.title} title={title} component="h2">
            {title}
          </Text>
          {subtitle && (
            <Text size="xs" c="dimmed" truncate title={subtitle}>
              {subtitle}
            </Text>
          )}
        </div>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the panel" onClick={onClose}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <div className={classes.body}>{children}</div>
    </aside>
  );
}
