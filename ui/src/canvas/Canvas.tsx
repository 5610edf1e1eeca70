import "@xyflow/react/dist/style.css";
import { useComputedColorScheme } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  Background,
  BackgroundVariant,
  type Connection,
  type FinalConnectionState,
  ReactFlow,
  useReactFlow,
  type Viewport,
} from "@xyflow/react";
import { type DragEvent, type FocusEvent, useCallback, useMemo } from "react";
import { readHashSearch, writeHashSearch } from "@/app/hashLocation";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import type { Edge } from "@/document/graph";
import { refusal } from "@/document/wiring";
import { addOperator, connect, edgeByKey, insertOnEdge, spliceInto } from "@/editor/editing";
import { GRID_PX, onGrid } from "@/layout/tidy";
import { execute, presentGraph, useDocument } from "@/stores/documentStore";
import { selectEdge, selectNodes, selectNothing, show, useUi } from "@/stores/uiStore";
import classes from "./Canvas.module.css";
import { DRAGGED_OPERATOR } from "./dragging";
import { EmptyCanvas } from "./EmptyCanvas";
import { flowEdges, type PipelineFlowEdge, type PipelineFlowNode } from "./flow";
import { PipelineEdge } from "./PipelineEdge";
import { PipelineNode } from "./PipelineNode";
import { useCatalogue } from "./useCatalogue";
import { useFlowNodes } from "./useFlowNodes";
import { useReveal } from "./useReveal";

const NODE_TYPES = { pipeline: PipelineNode };
const EDGE_TYPES = { pipeline: PipelineEdge };
/** Smaller than this, figures could not be read and only cost time. */
const READABLE_ZOOM_MIN = 0.45;
const FIT = { padding: 0.15, maxZoom: 1 };

const edgeOf = (connection: Connection | PipelineFlowEdge): Edge => ({
  source: connection.source,
  target: connection.target,
  source_port: connection.sourceHandle ?? "out",
  target_port: connection.targetHandle ?? "in",
});

/** The pipeline as a graph that can be drawn, wired and watched. */
export function Canvas() {
  const { catalogue } = useCatalogue();
  const scheme = useComputedColorScheme("light");
  const { nodes, onNodesChange } = useFlowNodes();
  const edgesOfGraph = useDocument((state) => state.history.present.edges);
  const selectedEdge = useUi((state) => state.edge);
  const edges = useMemo(() => flowEdges(edgesOfGraph, selectedEdge), [edgesOfGraph, selectedEdge]);
  const { screenToFlowPosition } = useReactFlow();
  const viewport = useMemo(readViewport, []);
  useReveal();

  const wiring = useCallback(
    () => ({ graph: presentGraph(), catalogue, schemas: useDocument.getState().told.schemas }),
    [catalogue],
  );
  const isValidConnection = useCallback(
    (connection: Connection | PipelineFlowEdge) => refusal(wiring(), edgeOf(connection)) === null,
    [wiring],
  );

  const placeAt = useCallback(
    (x: number, y: number) => {
      const at = screenToFlowPosition({ x, y });
      return { x: onGrid(at.x - NODE_WIDTH_PX / 2), y: onGrid(at.y - NODE_HEIGHT_PX / 2) };
    },
    [screenToFlowPosition],
  );

  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromHandle, toHandle, fromNode } = state;
      if (!fromHandle || !fromNode || state.isValid) return;
      if (toHandle) {
        const [one, other] = fromHandle.type === "source" ? [fromHandle, toHandle] : [toHandle, fromHandle];
        const edge = {
          source: one.nodeId,
          source_port: one.id ?? "out",
          target: other.nodeId,
          target_port: other.id ?? "in",
        };
        const reason =
          one.type === other.type ? "a wire leads from an output to an input" : refusal(wiring(), edge);
        if (reason) notifications.show({ message: `Not connected: ${reason}`, color: "orange" });
        return;
      }
      const { clientX, clientY } =
        "changedTouches" in event ? (event.changedTouches[0] ?? { clientX: 0, clientY: 0 }) : event;
      const end = fromHandle.type === "source" ? "output" : "input";
      show({
        adding: {
          end,
          position: placeAt(clientX, clientY),
          from: { node: fromNode.id, port: fromHandle.id ?? "out" },
        },
      });
    },
    [placeAt, wiring],
  );

  const onDrop = useCallback(
    (event: DragEvent) => {
      const operator = catalogue.get(event.dataTransfer.getData(DRAGGED_OPERATOR));
      if (!operator) return;
      event.preventDefault();
      const position = placeAt(event.clientX, event.clientY);
      const edge = edgeUnder(event.clientX, event.clientY);
      const isInsertable = edge && operator.inputs.length > 0 && operator.outputs.length > 0;
      if (isInsertable) insertOnEdge(edge, operator, position);
      else addOperator({ end: null, position }, operator, catalogue);
      show({ isPointed: true });
    },
    [catalogue, placeAt],
  );

  const onNodeDragStop = useCallback(
    (event: MouseEvent | TouchEvent, node: PipelineFlowNode, moved: PipelineFlowNode[]) => {
      const edge =
        moved.length === 1 && "clientX" in event ? edgeUnder(event.clientX, event.clientY) : undefined;
      if (!edge || !spliceInto(edge, node.id, node.position, catalogue)) noteMoved(moved);
    },
    [catalogue],
  );

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a drop target; everything it does has a key and a command
    <div
      className={classes.canvas}
      onDrop={onDrop}
      onDragOver={allowDrop}
      onFocus={noteFocus}
      data-canvas
      data-testid="canvas"
    >
      <ReactFlow<PipelineFlowNode, PipelineFlowEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onNodeDragStop={onNodeDragStop}
        onSelectionDragStop={(_event, moved) => noteMoved(moved)}
        isValidConnection={isValidConnection}
        onConnect={(connection) => connect(edgeOf(connection))}
        onConnectEnd={onConnectEnd}
        onEdgeClick={(_event, edge) => selectEdge(edge.id)}
        onPaneClick={selectNothing}
        onMove={(_event, moved) => noteDistance(moved)}
        onMoveEnd={(_event, moved) => noteViewport(moved)}
        colorMode={scheme}
        deleteKeyCode={null}
        disableKeyboardA11y
        edgesFocusable={false}
        onlyRenderVisibleElements
        elevateNodesOnSelect={false}
        snapToGrid
        snapGrid={[GRID_PX, GRID_PX]}
        minZoom={0.1}
        maxZoom={2}
        connectionRadius={24}
        {...(viewport ? { defaultViewport: viewport } : { fitView: true, fitViewOptions: FIT })}
        proOptions={{ hideAttribution: true }}
      >
        <Background variant={BackgroundVariant.Dots} gap={24} size={1} />
      </ReactFlow>
      {nodes.length === 0 && <EmptyCanvas />}
    </div>
  );
}

/** A node that is reached by Tab is selected; a click selects by itself. */
function noteFocus(event: FocusEvent): void {
  const id = event.target.matches(".react-flow__node:focus-visible")
    ? event.target.getAttribute("data-id")
    : null;
  if (id !== null && !useUi.getState().nodes.has(id)) selectNodes([id]);
}

function allowDrop(event: DragEvent): void {
  if (!event.dataTransfer.types.includes(DRAGGED_OPERATOR)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "copy";
}

function edgeUnder(x: number, y: number): Edge | undefined {
  const found = document.elementsFromPoint(x, y).map((element) => element.closest(".react-flow__edge"));
  return edgeByKey(found.find(Boolean)?.getAttribute("data-id") ?? null);
}

function noteMoved(moved: readonly PipelineFlowNode[]): void {
  execute({ kind: "move", positions: Object.fromEntries(moved.map(({ id, position }) => [id, position])) });
}

function noteDistance({ zoom }: Viewport): void {
  const isFar = zoom < READABLE_ZOOM_MIN;
  if (useUi.getState().isFar !== isFar) show({ isFar });
}

/** `?x=…&y=…&zoom=…` of a permalink. */
function readViewport(): Viewport | null {
  const search = readHashSearch();
  const [x, y, zoom] = ["x", "y", "zoom"].map((name) => Number(search.get(name) ?? Number.NaN));
  const isWhole = [x, y, zoom].every((value) => Number.isFinite(value));
  return isWhole && zoom ? { x: x ?? 0, y: y ?? 0, zoom } : null;
}

function noteViewport({ x, y, zoom }: Viewport): void {
  const search = readHashSearch();
  search.set("x", x.toFixed(0));
  search.set("y", y.toFixed(0));
  search.set("zoom", zoom.toFixed(2));
  writeHashSearch(search);
}
