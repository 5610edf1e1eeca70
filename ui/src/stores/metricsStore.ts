/** Live figures. They come twice a second and go only to those who ask for one of them. */
import { create } from "zustand";
import type {
  EdgeFigures,
  JobError,
  JobEvent,
  JobState,
  MetricsTick,
  NodeFigures,
  NoticeView,
} from "@/api/types";
import { edgeKey } from "@/document/graph";

export const EVENTS_MAX = 300;
export const POINTS_MAX = 240;

/** One moment of a job, for charts. */
export interface Point {
  readonly timeMs: number;
  readonly rate: number;
  readonly lag: number;
  readonly batchMs: number;
}

export interface LiveJob {
  readonly state: JobState;
  /** Why the job failed, or why it is being started again. */
  readonly error: JobError | null;
  /** What holds it up: Spark that starts, its turn, a query that does not move. */
  readonly waitsFor: string | null;
  readonly nodes: Readonly<Record<string, NodeFigures>>;
  readonly edges: ReadonlyMap<string, EdgeFigures>;
  readonly batches: MetricsTick["jobs"][string]["batches"];
  readonly points: readonly Point[];
}

export interface MetricsState {
  readonly jobs: Readonly<Record<string, LiveJob>>;
  readonly events: Readonly<Record<string, readonly JobEvent[]>>;
  /** What is wrong with the machine or with Spark now. */
  readonly notices: readonly NoticeView[];
  /** Events that the server could not keep for us. */
  readonly missed: number;
}

export const useMetrics = create<MetricsState>(() => ({ jobs: {}, notices: [], events: {}, missed: 0 }));

export function noteTick(tick: MetricsTick): void {
  const before = useMetrics.getState().jobs;
  const jobs: Record<string, LiveJob> = {};
  for (const [pipeline, figures] of Object.entries(tick.jobs)) {
    const points = [...(before[pipeline]?.points ?? []), pointOf(tick.time_ms, figures)].slice(-POINTS_MAX);
    const edges = new Map(figures.edges.map((edge) => [edgeKey(edge), edge]));
    const { state, error, nodes, batches } = figures;
    jobs[pipeline] = {
      state,
      error: sameError(before[pipeline]?.error, error),
      waitsFor: figures.waits_for,
      nodes,
      edges,
      batches,
      points,
    };
  }
  const known = useMetrics.getState().notices;
  useMetrics.setState({ jobs, notices: sameNotices(known, tick.notices) ? known : tick.notices });
}

const sameNotices = (known: readonly NoticeView[], now: readonly NoticeView[]): boolean =>
  known.length === now.length && known.every((notice, index) => notice.message === now[index]?.message);

/** The one that is known, where it still stands: those who show it need not look again. */
const sameError = (known: JobError | null | undefined, now: JobError | null): JobError | null =>
  known && now && known.message === now.message && known.node === now.node ? known : now;

function pointOf(timeMs: number, figures: MetricsTick["jobs"][string]): Point {
  const targets = new Set(figures.edges.map((edge) => edge.target));
  const sources = Object.entries(figures.nodes).filter(([id]) => !targets.has(id));
  return {
    timeMs,
    rate: sources.reduce((sum, [, node]) => sum + node.rate, 0),
    lag: figures.edges.reduce((most, edge) => Math.max(most, edge.lag ?? 0), 0),
    batchMs: figures.batches.last_ms,
  };
}

/** Adds events that are not known yet, oldest first. */
export function noteEvents(pipeline: string, incoming: readonly JobEvent[]): void {
  const { events } = useMetrics.getState();
  const known = events[pipeline] ?? [];
  const numbers = new Set(known.map((event) => event.number));
  const fresh = incoming.filter((event) => !numbers.has(event.number));
  if (fresh.length === 0) return;
  const all = [...known, ...fresh].sort((one, other) => one.number - other.number).slice(-EVENTS_MAX);
  useMetrics.setState({ events: { ...events, [pipeline]: all } });
}

/** Numbers of a server that began anew mean nothing beside older ones. */
export const forgetEvents = (): void => useMetrics.setState({ events: {} });
export const noteMissed = (missed: number): void => useMetrics.setState({ missed });
