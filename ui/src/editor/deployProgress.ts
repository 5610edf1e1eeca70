import type { Change, JobState } from "@/api/types";

export type Step = "waiting" | "draining" | "switching" | "running";

/** What a deploy does to the nodes now, by the state that their job has meanwhile. */
export function stepOf(state: JobState | null, hadRun: boolean, hasStopped: boolean): Step {
  if (state === "stopping") return "draining";
  if (state === "starting") return "switching";
  if (state === "running") return hadRun && !hasStopped ? "draining" : "running";
  return hadRun ? "switching" : "waiting";
}

/** Nodes that a deploy touches: those that changed, or all where nothing ran before. */
export function touchedNodes(changes: readonly Change[], all: readonly string[]): string[] {
  const changed = changes.flatMap(({ node, edge }) =>
    node ? [node] : edge ? [edge.source, edge.target] : [],
  );
  return changed.length > 0 ? [...new Set(changed)] : [...all];
}
