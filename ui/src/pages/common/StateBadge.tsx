import { Badge } from "@mantine/core";
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleDashed,
  IconLoader2,
  IconPlayerStop,
} from "@tabler/icons-react";
import type { JobState } from "@/api/types";
import classes from "./StateBadge.module.css";

const LOOKS = {
  running: { text: "Running", icon: IconCircleCheck, look: "good" },
  starting: { text: "Starting", icon: IconLoader2, look: "busy" },
  stopping: { text: "Stopping", icon: IconLoader2, look: "busy" },
  stopped: { text: "Stopped", icon: IconPlayerStop, look: "still" },
  failed: { text: "Failed", icon: IconAlertTriangle, look: "bad" },
} as const;

/** A job's state as a word and a shape, never by colour alone. `null`: it never ran. */
export function StateBadge({ state }: { state: JobState | null }) {
  const {
    text,
    icon: Icon,
    look,
  } = state === null ? { text: "Not running", icon: IconCircleDashed, look: "still" as const } : LOOKS[state];
  return (
    <Badge
      variant="transparent"
      px={0}
      className={classes[look] ?? ""}
      leftSection={<Icon size={14} aria-hidden />}
    >
      {text}
    </Badge>
  );
}
