import { flowLabel, lagLabel } from "@/live/figures";
import { useMetrics } from "@/stores/metricsStore";
import classes from "./PipelineEdge.module.css";

const ABOVE_WIRE_PX = 8;
const BELOW_WIRE_PX = 17;
const ABOVE_NODES_PX = 6;
const LINE_PX = 13;

interface EdgeFiguresLabelProps {
  pipeline: string;
  edge: string;
  x: number;
  /** The middle of the wire. */
  y: number;
  /** Where nodes would cover what stands around the wire: what to stand above instead. */
  nodesTop: number | null;
}

/** Rate and total above a wire, lag below it; nothing while the pipeline does not run. */
export function EdgeFiguresLabel({ pipeline, edge, x, y, nodesTop }: EdgeFiguresLabelProps) {
  const flow = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(edge);
    return figures ? flowLabel(figures) : null;
  });
  const lag = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(edge);
    return figures ? lagLabel(figures) : null;
  });
  if (flow === null) return null;
  const lagY = nodesTop === null ? y + BELOW_WIRE_PX : nodesTop - ABOVE_NODES_PX;
  const flowY = nodesTop === null ? y - ABOVE_WIRE_PX : lagY - (lag ? LINE_PX : 0);
  return (
    <text className={classes.label} textAnchor="middle" data-testid="edge-figures">
      <tspan x={x} y={flowY}>
        {flow}
      </tspan>
      {lag && (
        <tspan x={x} y={lagY}>
          {` ${lag}`}
        </tspan>
      )}
    </text>
  );
}
