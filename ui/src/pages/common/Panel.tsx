import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./Panel.module.css";

interface PanelProps {
  /** Names the region for screen readers; shown unless `isTitleHidden`. */
  title: string;
  isTitleHidden?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}

/** A bordered part of a page. Wide content scrolls inside it, so that the page never does sideways. */
export function Panel({ title, isTitleHidden = false, actions, children }: PanelProps) {
  return (
    <section className={classes.panel} aria-label={title}>
      {(!isTitleHidden || actions) && (
        <div className={classes.head}>
          {!isTitleHidden && (
            <Text component="h2" className={classes.title}>
              {title}
            </Text>
          )}
          {actions}
        </div>
      )}
      <div className={classes.body}>{children}</div>
    </section>
  );
}
