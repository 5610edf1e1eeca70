import { BaseEdge, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { edgeLabel, pressureOf, widthOf } from "@/live/figures";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { useUi } from "@/stores/uiStore";
import type { PipelineFlowEdge } from "./flow";
import classes from "./PipelineEdge.module.css";

/** A wire with its figures. Colour and width show pressure and rate; the number stands beside. */
export const PipelineEdge = memo(function PipelineEdge(props: EdgeProps<PipelineFlowEdge>) {
  const [path, labelX, labelY] = getBezierPath(props);
  const pipeline = useDocument((state) => state.pipeline);
  const figures = useMetrics((state) => state.jobs[pipeline]?.edges.get(props.id));
  const isFar = useUi((state) => state.isFar);
  const pressure = figures ? pressureOf(figures) : "idle";
  return (
    <g className={classes.edge} data-pressure={pressure} data-selected={props.selected || undefined}>
      <BaseEdge
        id={props.id}
        path={path}
        interactionWidth={20}
        style={{ strokeWidth: widthOf(figures?.rate ?? 0) }}
      />
      {figures && !isFar && (
        <text
          className={classes.label}
          x={labelX}
          y={labelY - 8}
          textAnchor="middle"
          data-testid="edge-figures"
        >
          {edgeLabel(figures)}
        </text>
      )}
    </g>
  );
});
