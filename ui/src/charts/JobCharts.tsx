import { useMemo } from "react";
import { short } from "@/live/figures";
import { EmptyState } from "@/shared/EmptyState";
import { type Point, useMetrics } from "@/stores/metricsStore";
import classes from "./JobCharts.module.css";
import { type Series, TimeChart } from "./TimeChart";

const NO_POINTS: readonly Point[] = [];

const perSecond = (value: number) => `${short(value)}/s`;
const rows = (value: number) => short(value);
const milliseconds = (value: number) =>
  value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;

/** Rate, lag and batch time of the last minutes. Load it lazily: uPlot comes with it. */
export default function JobCharts({ pipeline }: { pipeline: string }) {
  const points = useMetrics((state) => state.jobs[pipeline]?.points ?? NO_POINTS);
  const rate = useMemo(() => seriesOf(points, (point) => point.rate), [points]);
  const lag = useMemo(() => seriesOf(points, (point) => point.lag), [points]);
  const batch = useMemo(() => seriesOf(points, (point) => point.batchMs), [points]);
  if (points.length === 0)
    return <EmptyState title="No figures yet">They come while the pipeline runs.</EmptyState>;
  return (
    <div className={classes.charts} data-live>
      <TimeChart title="Rows in" series={rate} color="--hr-accent" format={perSecond} />
      <TimeChart title="Rows waiting" series={lag} color="--hr-warn" format={rows} />
      <TimeChart title="Batch time" series={batch} color="--hr-relational" format={milliseconds} />
    </div>
  );
}

function seriesOf(points: readonly Point[], value: (point: Point) => number): Series {
  return { timesS: points.map((point) => point.timeMs / 1000), values: points.map(value) };
}
