import type { JobState } from "@/api/types";

/** The state of a job as people see it: one that waits behind a signal is paused. */
export type ShownState = JobState | "paused";

export function shownState({ state, paused_by }: { state: JobState; paused_by: string | null }): ShownState {
  return state === "running" && paused_by !== null ? "paused" : state;
}
