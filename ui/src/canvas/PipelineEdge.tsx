import { BaseEdge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { NODE_HEIGHT_PX } from "@/document/align";
import { pressureOf, widthOf } from "@/live/figures";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { useUi } from "@/stores/uiStore";
import { EdgeFiguresLabel } from "./EdgeFiguresLabel";
import type { PipelineFlowEdge } from "./flow";
import classes from "./PipelineEdge.module.css";

const FIGURES_WIDTH_PX = 88;
const FIGURES_HEIGHT_PX = 20;

/** Widths in quarters of a pixel: a wire is drawn anew only when the eye could tell. */
const steppedWidth = (rate: number): number => Math.round(widthOf(rate) * 4) / 4;

type Ends = Pick<EdgeProps, "sourceX" | "sourceY" | "targetX" | "targetY">;

/** Between nodes that stand so close, figures would be covered by them. */
const isTight = ({ sourceX, targetX }: Ends): boolean =>
  targetX >= sourceX && targetX - sourceX < FIGURES_WIDTH_PX;

const aboveNodes = ({ sourceY, targetY }: Ends): number =>
  Math.min(sourceY, targetY) - NODE_HEIGHT_PX / 2 - FIGURES_HEIGHT_PX;

/** A wire. Colour and width show pressure and rate; the figures stand beside. */
export const PipelineEdge = memo(function PipelineEdge(props: EdgeProps<PipelineFlowEdge>) {
  const [path, labelX, middleY] = getBezierPath(props);
  const pipeline = useDocument((state) => state.pipeline);
  const isFar = useUi((state) => state.isFar);
  const pressure = useMetrics((state) => {
    const figures = state.jobs[pipeline]?.edges.get(props.id);
    return figures ? pressureOf(figures) : "idle";
  });
  const isBroken = useMetrics((state) => {
    const job = state.jobs[pipeline];
    const node = job?.error?.node ?? props.source;
    return job?.state === "failed" && (node === props.source || node === props.target);
  });
  const width = useMetrics((state) => steppedWidth(state.jobs[pipeline]?.edges.get(props.id)?.rate ?? 0));
  return (
    <g
      className={classes.edge}
      data-pressure={pressure}
      data-selected={props.selected || undefined}
      data-broken={isBroken || undefined}
    >
      <BaseEdge id={props.id} path={path} interactionWidth={20} style={{ strokeWidth: width }} />
      {!isFar && (
        <EdgeFiguresLabel
          pipeline={pipeline}
          edge={props.id}
          x={labelX}
          y={isTight(props) ? aboveNodes(props) : middleY}
        />
      )}
    </g>
  );
});
