import { ActionIcon, Group, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { KeyboardEvent, ReactNode } from "react";
import { focusNode } from "@/canvas/focus";
import { useUi } from "@/stores/uiStore";
import classes from "./Drawer.module.css";

interface DrawerProps {
  title: string;
  subtitle?: string;
  icon?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** Escape goes back to the canvas, to the node that the panel is about. */
function leave(event: KeyboardEvent): void {
  const [node] = useUi.getState().nodes;
  if (event.key !== "Escape" || event.defaultPrevented || node === undefined) return;
  event.preventDefault();
  focusNode(node);
}

/** Moves the focus into the open panel. */
export function focusDrawer(): void {
  document
    .querySelector<HTMLElement>("[data-drawer] [role=tabpanel] :is(input, textarea, .cm-content)")
    ?.focus();
}

/** The docked panel on the right. */
export function Drawer({ title, subtitle, icon, onClose, children }: DrawerProps) {
  return (
    <section className={classes.drawer} aria-label={title} data-drawer data-panel onKeyDown={leave}>
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
    </section>
  );
}
