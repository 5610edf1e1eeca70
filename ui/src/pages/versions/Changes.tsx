import { Text } from "@mantine/core";
import type { Change } from "@/api/types";
import { plural } from "@/shared/format";
import classes from "./Changes.module.css";
import { type Sides, sideTitle } from "./sides";

/** What differs in meaning. Moving a node on the canvas is no change. */
export function Changes({ changes, sides }: { changes: Change[]; sides: Sides }) {
  const title = changes.length === 0 ? "No difference" : plural(changes.length, "change");
  return (
    <section className={classes.changes} aria-label="Changes" data-count={changes.length}>
      <Text component="h2" size="sm" fw={600} mb={4}>
        {title}
        <Text span c="dimmed" fw={400} size="sm">
          {` from ${sideTitle(sides.old).toLowerCase()} to ${sideTitle(sides.new).toLowerCase()}`}
        </Text>
      </Text>
      <ul className={classes.list}>
        {changes.map((change) => (
          <li key={change.text} className={classes[lookOf(change.kind)]}>
            <span className={classes.sign}>{change.text.slice(0, 1)}</span>
            {change.text.slice(1).trimStart()}
          </li>
        ))}
      </ul>
    </section>
  );
}

function lookOf(kind: Change["kind"]): "added" | "removed" | "changed" {
  if (kind.endsWith("_added")) return "added";
  return kind.endsWith("_removed") ? "removed" : "changed";
}
