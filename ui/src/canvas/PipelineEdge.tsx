import { BaseEdge, type EdgeProps, getBezierPath, useStoreApi } from "@xyflow/react";
import { memo } from "react";
import { pressureOf, widthOf } from "@/live/figures";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { useUi } from "@/stores/uiStore";
import { EdgeFiguresLabel } from "./EdgeFiguresLabel";
import { lineAboveNodes } from "./figuresPlace";
import type { PipelineFlowEdge } from "./flow";
import classes from "./PipelineEdge.module.css";

/** Widths in quarters of a pixel: a wire is drawn anew only when the eye could tell. */
const steppedWidth = (rate: number): number => Math.round(widthOf(rate) * 4) / 4;

/** A wire. Colour and width show pressure and rate; the figures stand beside. */
export const PipelineEdge = memo(function PipelineEdge(props: EdgeProps<PipelineFlowEdge>) {
  const [path, middleX, middleY] = getBezierPath(props);
  // Asked for while drawing: a node that moves moves the ends of its wires, and they are drawn anew.
  const { nodeLookup } = useStoreApi().getState();
  const topOf = (id: string, portY: number) => nodeLookup.get(id)?.internals.positionAbsolute.y ?? portY;
  const tops = {
    sourceTop: topOf(props.source, props.sourceY),
    targetTop: topOf(props.target, props.targetY),
  };
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
      data-live
      data-pressure={pressure}
      data-selected={props.selected || undefined}
      data-broken={isBroken || undefined}
    >
      <BaseEdge id={props.id} path={path} interactionWidth={20} style={{ strokeWidth: width }} />
      {!isFar && (
        <EdgeFiguresLabel
          pipeline={pipeline}
          edge={props.id}
          x={middleX}
          y={middleY}
          nodesTop={lineAboveNodes({ ...props, ...tops }, middleY)}
        />
      )}
    </g>
  );
});
