/** From the document to what React Flow draws. Objects stay the same where nothing changed. */
import { type Edge as FlowEdge, type Node as FlowNode, Position as Side } from "@xyflow/react";
import type { Operator, Position } from "@/api/types";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { type Edge, edgeKey, type Graph } from "@/document/graph";
import type { Catalogue } from "@/document/wiring";

export interface NodeData extends Record<string, unknown> {
  /** As the document names it; the catalogue may not have it. */
  name: string;
  operator: Operator | undefined;
}
export interface EdgeData extends Record<string, unknown> {
  edge: Edge;
}
export type PipelineFlowNode = FlowNode<NodeData, "pipeline">;
export type PipelineFlowEdge = FlowEdge<EdgeData, "pipeline">;

const HANDLE_PX = 12;

/** Ports are spread evenly over the height of a node. */
export const portTop = (index: number, count: number): number => ((index + 1) * NODE_HEIGHT_PX) / (count + 1);

/** Where wires end, told beforehand: nodes outside the view are never measured. */
function handlesOf(operator: Operator | undefined): NonNullable<PipelineFlowNode["handles"]> {
  const inputs = operator?.inputs ?? [];
  const outputs = operator?.outputs ?? [];
  const handle = (id: string, type: "source" | "target", index: number, count: number) => ({
    id,
    type,
    position: type === "source" ? Side.Right : Side.Left,
    x: (type === "source" ? NODE_WIDTH_PX : 0) - HANDLE_PX / 2,
    y: portTop(index, count) - HANDLE_PX / 2,
    width: HANDLE_PX,
    height: HANDLE_PX,
  });
  return [
    ...inputs.map(({ name }, index) => handle(name, "target", index, inputs.length)),
    ...outputs.map(({ name }, index) => handle(name, "source", index, outputs.length)),
  ];
}

export function flowNode(
  id: string,
  operatorName: string,
  position: Position,
  catalogue: Catalogue,
): PipelineFlowNode {
  const operator = catalogue.get(operatorName);
  return {
    id,
    type: "pipeline",
    position,
    data: { name: operatorName, operator },
    width: NODE_WIDTH_PX,
    height: NODE_HEIGHT_PX,
    // Told beforehand as well: fitting the view must not wait for nodes that are never drawn.
    measured: { width: NODE_WIDTH_PX, height: NODE_HEIGHT_PX },
    handles: handlesOf(operator),
    ariaLabel: `${operator?.title ?? operatorName} ${id}`,
    domAttributes: { "aria-roledescription": "node" },
  };
}

/** The nodes to draw now; those that did not change are the same objects as before. */
export function flowNodes(
  before: readonly PipelineFlowNode[],
  graph: Graph,
  layout: Graph["layout"],
  selected: ReadonlySet<string>,
  catalogue: Catalogue,
): PipelineFlowNode[] {
  const known = new Map(before.map((node) => [node.id, node]));
  return Object.values(graph.nodes).map(({ id, operator }) => {
    const position = layout[id] ?? { x: 0, y: 0 };
    const old = known.get(id);
    const isSelected = selected.has(id);
    if (!old || old.data.name !== operator)
      return { ...flowNode(id, operator, position, catalogue), selected: isSelected };
    const isSamePlace = old.position.x === position.x && old.position.y === position.y;
    if (isSamePlace && (old.selected ?? false) === isSelected) return old;
    return { ...old, position: isSamePlace || old.dragging ? old.position : position, selected: isSelected };
  });
}

export function flowEdges(edges: readonly Edge[], selected: string | null): PipelineFlowEdge[] {
  return edges.map((edge) => {
    const id = edgeKey(edge);
    return {
      id,
      type: "pipeline",
      source: edge.source,
      target: edge.target,
      sourceHandle: edge.source_port,
      targetHandle: edge.target_port,
      selected: id === selected,
      ariaLabel: `Connection from ${edge.source} to ${edge.target}`,
      data: { edge },
    };
  });
}
