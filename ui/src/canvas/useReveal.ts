import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect } from "react";
import { NODE_HEIGHT_PX, NODE_WIDTH_PX } from "@/document/align";
import { placed } from "@/layout/placement";
import { presentGraph } from "@/stores/documentStore";
import { useUi } from "@/stores/uiStore";

const MARGIN_PX = 24;
const PAN_MS = 150;

/** Moves the view so that the selected node is seen: after arrows, after adding, and when a panel opens over it. */
export function useReveal(): void {
  const selected = useUi((state) => (state.nodes.size === 1 ? ([...state.nodes][0] ?? null) : null));
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const { getViewport, setCenter } = useReactFlow();
  useEffect(() => {
    const at = selected === null ? undefined : placed(presentGraph())[selected];
    if (!at || width === 0) return;
    const { x, y, zoom } = getViewport();
    const left = at.x * zoom + x;
    const top = at.y * zoom + y;
    const isSeen =
      left >= MARGIN_PX &&
      top >= MARGIN_PX &&
      left + NODE_WIDTH_PX * zoom <= width - MARGIN_PX &&
      top + NODE_HEIGHT_PX * zoom <= height - MARGIN_PX;
    if (isSeen) return;
    void setCenter(at.x + NODE_WIDTH_PX / 2, at.y + NODE_HEIGHT_PX / 2, { zoom, duration: PAN_MS });
  }, [selected, width, height, getViewport, setCenter]);
}
