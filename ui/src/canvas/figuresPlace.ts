/** Where the figures of a wire stand. */
import { NODE_HEIGHT_PX } from "@/document/align";

/** Room that rate and total take beside a wire, on both sides of it. */
const WIDTH_PX = 88;
const HALF_HEIGHT_PX = 20;

export interface WireEnds {
  readonly sourceX: number;
  readonly targetX: number;
  /** The upper edges of the nodes that the wire connects. */
  readonly sourceTop: number;
  readonly targetTop: number;
}

/** The line that figures stand on, or null where they fit around the middle of the wire: nodes would cover them. */
export function lineAboveNodes(
  { sourceX, targetX, sourceTop, targetTop }: WireEnds,
  middleY: number,
): number | null {
  const gapPx = targetX - sourceX;
  const isCovered = [sourceTop, targetTop].some(
    (top) => middleY + HALF_HEIGHT_PX > top && middleY - HALF_HEIGHT_PX < top + NODE_HEIGHT_PX,
  );
  return gapPx >= 0 && gapPx < WIDTH_PX && isCovered ? Math.min(sourceTop, targetTop) : null;
}
