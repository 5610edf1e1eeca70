import { flowLabel, lagLabel } from "@/live/figures";
import { useMetrics } from "@/stores/metricsStore";
import classes from "./PipelineEdge.module.css";

const ABOVE_PX = 8;
const BELOW_PX = 17;

interface EdgeFiguresLabelProps {
  pipeline: string;
  edge: string;
  x: number;
  y: number;
}

/** Rate and total above a wire, lag below it; nothing while the pipeline does not run. */
export function EdgeFiguresLabel({ pipeline, edge, x, y }: EdgeFiguresLabelProps) {
  const flow = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(edge);
    return figures ? flowLabel(figures) : null;
  });
  const lag = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(edge);
    return figures ? lagLabel(figures) : null;
  });
  if (flow === null) return null;
  return (
    <text className={classes.label} textAnchor="middle" data-testid="edge-figures">
      <tspan x={x} y={y - ABOVE_PX}>
        {flow}
      </tspan>
      {lag && (
        <tspan x={x} y={y + BELOW_PX}>
          {` ${lag}`}
        </tspan>
      )}
    </text>
  );
}
