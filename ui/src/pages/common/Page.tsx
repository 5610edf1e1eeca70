import { Group, Title } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./Page.module.css";

interface PageProps {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page that scrolls as a whole: a title with actions beside it, and content of readable width. */
export function Page({ title, actions, children }: PageProps) {
  return (
    <div className={classes.page}>
      <Group justify="space-between" gap="sm" mb="lg">
        <Title order={1} className={classes.title}>
          {title}
        </Title>
        {actions && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </div>
  );
}
