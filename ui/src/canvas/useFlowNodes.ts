import { applyNodeChanges, type NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { placed } from "@/layout/placement";
import { useDocument } from "@/stores/documentStore";
import { useUi } from "@/stores/uiStore";
import { flowNodes, type PipelineFlowNode } from "./flow";
import { useCatalogue } from "./useCatalogue";

/** Nodes for React Flow: from the document, with what is being dragged on top. */
export function useFlowNodes() {
  const { catalogue } = useCatalogue();
  const graph = useDocument((state) => state.history.present);
  const selected = useUi((state) => state.nodes);
  const layout = useMemo(() => placed(graph), [graph]);
  const [nodes, setNodes] = useState<PipelineFlowNode[]>([]);

  useEffect(() => {
    setNodes((before) => flowNodes(before, graph, layout, selected, catalogue));
  }, [graph, layout, selected, catalogue]);

  const onNodesChange = useCallback((changes: NodeChange<PipelineFlowNode>[]) => {
    const kept = changes.filter(({ type }) => type === "position" || type === "dimensions");
    if (kept.length > 0) setNodes((before) => applyNodeChanges(kept, before));
    noteSelection(changes);
  }, []);

  return { nodes, layout, onNodesChange };
}

function noteSelection(changes: NodeChange<PipelineFlowNode>[]): void {
  const selects = changes.filter((change) => change.type === "select");
  if (selects.length === 0) return;
  const before = useUi.getState().nodes;
  const ids = new Set(before);
  for (const change of selects) {
    if (change.selected) ids.add(change.id);
    else ids.delete(change.id);
  }
  const isSame = ids.size === before.size && [...ids].every((id) => before.has(id));
  if (!isSame) useUi.setState({ nodes: ids, isPointed: true, ...(ids.size > 0 ? { edge: null } : {}) });
}
