import { edgeLabel } from "@/live/figures";
import { useMetrics } from "@/stores/metricsStore";
import classes from "./PipelineEdge.module.css";

const ABOVE_PX = 8;

/** Rate, total and lag above a wire; nothing while the pipeline does not run. */
export function EdgeFiguresLabel({
  pipeline,
  edge,
  x,
  y,
}: {
  pipeline: string;
  edge: string;
  x: number;
  y: number;
}) {
  const label = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(edge);
    return figures ? edgeLabel(figures) : null;
  });
  if (label === null) return null;
  return (
    <text className={classes.label} x={x} y={y - ABOVE_PX} textAnchor="middle" data-testid="edge-figures">
      {label}
    </text>
  );
}
