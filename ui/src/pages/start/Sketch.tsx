import type { DocumentBody, LayoutBody, Position } from "@/api/types";
import classes from "./Sketch.module.css";

const NODE = { width: 200, height: 64 };
const MARGIN = 24;
const SOURCES = new Set(["topic", "file", "generator"]);

/** A small drawing of a pipeline, for the eye only. */
export function Sketch({ document, layout }: { document: DocumentBody; layout: LayoutBody }) {
  const places = Object.values(layout);
  const right = Math.max(0, ...places.map((place) => place.x)) + NODE.width + MARGIN;
  const bottom = Math.max(0, ...places.map((place) => place.y)) + NODE.height + MARGIN;
  return (
    <svg
      className={classes.sketch}
      viewBox={`${-MARGIN} ${-MARGIN} ${right + MARGIN} ${bottom + MARGIN}`}
      aria-hidden="true"
    >
      {document.edges.map((edge) => {
        const [from, to] = [layout[edge.source], layout[edge.target]];
        return (
          from &&
          to && <path key={`${edge.source} ${edge.target}`} className={classes.edge} d={curve(from, to)} />
        );
      })}
      {document.nodes.map((node) => {
        const place = layout[node.id];
        return (
          place && (
            <rect
              key={node.id}
              className={classes[look(node.operator)]}
              x={place.x}
              y={place.y}
              width={NODE.width}
              height={NODE.height}
              rx={12}
            />
          )
        );
      })}
    </svg>
  );
}

function look(operator: string): "source" | "sink" | "relational" {
  if (SOURCES.has(operator)) return "source";
  return operator.startsWith("to-") || operator === "preview" ? "sink" : "relational";
}

function curve(from: Position, to: Position): string {
  const [startX, startY] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [endX, endY] = [to.x, to.y + NODE.height / 2];
  const bend = (endX - startX) / 2;
  return `M ${startX} ${startY} C ${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`;
}
