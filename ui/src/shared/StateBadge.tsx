import { Badge } from "@mantine/core";
import { useConnection } from "@/api/connection";
import type { JobState } from "@/api/types";

const COLORS: Readonly<Record<JobState, string>> = {
  starting: "var(--hr-accent)",
  running: "var(--hr-good)",
  paused: "var(--hr-warn)",
  stopping: "var(--hr-warn)",
  stopped: "var(--hr-text-soft)",
  failed: "var(--hr-bad)",
};

/** The state of a job, by colour and by word; while the server is gone, the last one that is known. */
export function StateBadge({ state }: { state: JobState | null }) {
  const isOnline = useConnection((connection) => connection.isOnline);
  const color = state === null || !isOnline ? "var(--hr-text-soft)" : COLORS[state];
  return (
    <Badge
      variant="outline"
      styles={{
        root: { borderColor: color, color, background: "transparent", flex: "none", minWidth: "max-content" },
      }}
      leftSection={
        <span
          aria-hidden
          style={{
            width: 6,
            height: 6,
            borderRadius: 3,
            background: color,
            display: "block",
            marginRight: 2,
          }}
        />
      }
    >
      {wordOf(state, isOnline)}
    </Badge>
  );
}

function wordOf(state: JobState | null, isOnline: boolean): string {
  if (isOnline) return state ?? "not started";
  return state === null ? "unknown" : `was ${state}`;
}
