import { Tooltip } from "@mantine/core";
import { IconAlertTriangleFilled } from "@tabler/icons-react";
import { Handle, type NodeProps, Position as Side } from "@xyflow/react";
import { memo } from "react";
import { plural } from "@/shared/format";
import { useDocument } from "@/stores/documentStore";
import { useUi } from "@/stores/uiStore";
import { type PipelineFlowNode, portTop } from "./flow";
import { KindIcon } from "./KindIcon";
import { NodeFigures } from "./NodeFigures";
import { useNodeMarks, useNodeState } from "./nodeMarks";
import classes from "./PipelineNode.module.css";
import { summaryOf } from "./summary";

/** One operator on the canvas: name, main setting, marks, figures, and a port for each wire. */
export const PipelineNode = memo(function PipelineNode({ id, data, selected }: NodeProps<PipelineFlowNode>) {
  const { name, operator } = data;
  const pipeline = useDocument((state) => state.pipeline);
  const config = useDocument((state) => state.history.present.nodes[id]?.config);
  const { problems, isChanged, failure } = useNodeMarks(id);
  const state = useNodeState(id);
  const isFar = useUi((ui) => ui.isFar);
  const summary = summaryOf(config ?? {}, operator);
  const inputs = operator?.inputs ?? [];
  const outputs = operator?.outputs ?? [];
  return (
    <div
      className={classes.node}
      data-kind={operator?.kind}
      data-selected={selected || undefined}
      data-faulty={problems.length > 0 || failure !== null || undefined}
      data-state={state}
    >
      {inputs.map((port, index) => (
        <Handle
          key={port.name}
          id={port.name}
          type="target"
          position={Side.Left}
          className={classes.port}
          style={{ top: portTop(index, inputs.length) }}
          title={`Input ${port.name}: ${port.summary}`}
        />
      ))}
      <div className={classes.top}>
        {operator ? <KindIcon kind={operator.kind} /> : null}
        <span className={classes.name} title={id}>
          {id}
        </span>
        {isChanged && (
          <span
            className={classes.changed}
            title="Changed since the last version"
            role="img"
            aria-label="changed"
          />
        )}
        {(problems.length > 0 || failure) && (
          <Tooltip
            label={failure ?? problems.map(({ message }) => message).join("\n")}
            style={{ whiteSpace: "pre-line" }}
          >
            <span className={classes.problem} role="img" aria-label={plural(problems.length || 1, "problem")}>
              <IconAlertTriangleFilled size={14} aria-hidden />
            </span>
          </Tooltip>
        )}
      </div>
      {!isFar && (
        <>
          <div className={classes.summary} title={summary}>
            {summary}
          </div>
          <div className={classes.foot}>
            {state && (
              <span
                className={classes.state}
                data-live
                data-state={state}
                role="img"
                aria-label={state}
                title={failure ?? state}
              />
            )}
            <span className={classes.operator}>{operator?.title ?? name}</span>
            <NodeFigures pipeline={pipeline} node={id} />
          </div>
        </>
      )}
      {outputs.map((port, index) => (
        <Handle
          key={port.name}
          id={port.name}
          type="source"
          position={Side.Right}
          className={classes.port}
          style={{ top: portTop(index, outputs.length) }}
          title={`Output ${port.name}: ${port.summary}`}
        />
      ))}
    </div>
  );
});
