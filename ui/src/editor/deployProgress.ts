import type { Change, JobState, JobView } from "@/api/types";

export type Step = "waiting" | "draining" | "switching" | "verifying" | "started" | "verified" | "failed";

/** What a deploy does to the nodes until the server answers, by the state that their job has meanwhile. */
export function stepOf(state: JobState | null, hadRun: boolean, hasStopped: boolean): Step {
  if (state === "stopping") return "draining";
  if (state === "starting") return "switching";
  if (state === "running" || state === "paused") return hadRun && !hasStopped ? "draining" : "verifying";
  return hadRun ? "switching" : "waiting";
}

/** Whether the new version does its work, and how that is known; or that nobody waits for it any longer. */
export type Verdict = "progressed" | "idle" | "paused" | "ended" | "failed" | "rowless" | "slow" | null;

/** Null while it cannot be told yet: no batch has ended, though rows wait. */
export function verdictOf(job: JobView): Verdict {
  const { state } = job;
  if (state === "failed" || state === "paused") return state;
  if (state === "stopped") return "ended";
  if (state !== "running") return null;
  if (job.queries.every(hasProgressed)) return "progressed";
  return job.queries.every((query) => hasProgressed(query) || isIdle(query)) ? "idle" : null;
}

/** The verdict of those who have looked for long enough: there always is one. */
export const lastVerdictOf = (job: JobView): Exclude<Verdict, null> =>
  verdictOf(job) ?? (job.state === "running" ? "rowless" : "slow");

/** Where the nodes are, once the version is made. */
export function stepAfter(verdict: Verdict): Step {
  if (verdict === null) return "verifying";
  if (verdict === "rowless" || verdict === "slow") return "started";
  return verdict === "failed" ? "failed" : "verified";
}

type Query = JobView["queries"][number];

/** The number of the last batch outlives a start; how long it took is known of those since then. */
const hasProgressed = ({ batch_ms }: Query): boolean => batch_ms > 0;

function isIdle({ lag }: Query): boolean {
  const lags = Object.values(lag);
  return lags.length > 0 && lags.every((records) => records === 0);
}

/** Nodes that a deploy touches: those that changed, or all where nothing ran before. */
export function touchedNodes(changes: readonly Change[], all: readonly string[]): string[] {
  const changed = changes.flatMap(({ node, edge }) =>
    node ? [node] : edge ? [edge.source, edge.target] : [],
  );
  return changed.length > 0 ? [...new Set(changed)] : [...all];
}
