import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import type { Mark } from "./marks";
import classes from "./StillNode.module.css";

export type StillNodeData = { title: string; operator: string; mark: Mark };

/** Says in a word how it differs, beside the colour. */
export function StillNode({ data }: NodeProps<Node<StillNodeData>>) {
  return (
    <div className={classes.node} data-mark={data.mark ?? undefined}>
      <Handle type="target" position={Position.Left} isConnectable={false} className={classes.port ?? ""} />
      <div className={classes.title}>{data.title}</div>
      <div className={classes.operator}>{data.operator}</div>
      {data.mark && <div className={classes.mark}>{data.mark}</div>}
      <Handle type="source" position={Position.Right} isConnectable={false} className={classes.port ?? ""} />
    </div>
  );
}
