import "@xyflow/react/dist/style.css";
import { useComputedColorScheme } from "@mantine/core";
import {
  type Edge,
  type Node,
  ReactFlow,
  type ReactFlowInstance,
  type Rect,
  type Viewport,
} from "@xyflow/react";
import { useMemo } from "react";
import type { DocumentBody } from "@/api/types";
import { edgeKey, type Layout } from "@/document/graph";
import type { Mark, Marks } from "./marks";
import classes from "./StillCanvas.module.css";
import { StillNode, type StillNodeData } from "./StillNode";

const NODE = { width: 190, height: 56 };
const WIDE_PX = 700;
const NODE_TYPES = { still: StillNode };
const STROKES: Record<NonNullable<Mark>, string> = {
  added: "var(--hr-good)",
  removed: "var(--hr-bad)",
  changed: "var(--hr-warn)",
};

interface StillCanvasProps {
  title: string;
  document: DocumentBody;
  places: Layout;
  marks: Marks;
  viewport: Viewport;
  onViewport: (viewport: Viewport) => void;
}

/** A pipeline to look at: it can be panned and zoomed, nothing else. */
export function StillCanvas({ title, document, places, marks, viewport, onViewport }: StillCanvasProps) {
  const colorMode = useComputedColorScheme("light");
  const nodes = useMemo(() => nodesOf(document, places, marks), [document, places, marks]);
  const edges = useMemo(() => edgesOf(document, marks), [document, marks]);
  return (
    <section className={classes.canvas} aria-label={title}>
      <h2 className={classes.title}>{title}</h2>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        colorMode={colorMode}
        viewport={viewport}
        onViewportChange={onViewport}
        onInit={(flow) => showAll(flow, places)}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        minZoom={0.1}
        proOptions={{ hideAttribution: true }}
      />
    </section>
  );
}

/** Both sides show the same part: the place of all nodes of both. */
function showAll(flow: ReactFlowInstance<Node<StillNodeData>>, places: Layout): void {
  if (Object.keys(places).length > 0) void flow.fitBounds(boundsOf(places), { padding: 0.12 });
}

function boundsOf(places: Layout): Rect {
  const all = Object.values(places);
  const [left, top] = [Math.min(...all.map(({ x }) => x)), Math.min(...all.map(({ y }) => y))];
  const [right, bottom] = [Math.max(...all.map(({ x }) => x)), Math.max(...all.map(({ y }) => y))];
  return { x: left, y: top, width: right - left + NODE.width, height: bottom - top + NODE.height };
}

/** A long chain could not be read in half the width: its two versions stand one above the other. */
export function isWideGraph(places: Layout): boolean {
  const { width, height } = boundsOf(places);
  return width > WIDE_PX && width > 2 * height;
}

function nodesOf(document: DocumentBody, places: Layout, marks: Marks): Node<StillNodeData>[] {
  return document.nodes.map((node) => ({
    id: node.id,
    type: "still",
    position: places[node.id] ?? { x: 0, y: 0 },
    ...NODE,
    data: { title: node.id, operator: node.operator, mark: marks.node(node.id) },
  }));
}

function edgesOf(document: DocumentBody, marks: Marks): Edge[] {
  return document.edges.map((edge) => {
    const mark = marks.edge(edge);
    return {
      id: edgeKey(edge),
      source: edge.source,
      target: edge.target,
      ...(mark ? { style: { stroke: STROKES[mark], strokeWidth: 2.5 } } : {}),
    };
  });
}
