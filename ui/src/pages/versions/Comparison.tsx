import type { Viewport } from "@xyflow/react";
import { useMemo, useState } from "react";
import { graphOf, type Layout } from "@/document/graph";
import { placed } from "@/layout/placement";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { Changes } from "./Changes";
import classes from "./Comparison.module.css";
import { marksOf } from "./marks";
import { type Content, useContent, useDiff } from "./queries";
import { isWideGraph, StillCanvas } from "./StillCanvas";
import { type Sides, sideTitle } from "./sides";

interface ComparisonProps {
  pipeline: string;
  sides: Sides;
}

/** Two canvases that move together, and below them what differs in words. */
export function Comparison({ pipeline, sides }: ComparisonProps) {
  const before = useContent(pipeline, sides.old);
  const after = useContent(pipeline, sides.new);
  const diff = useDiff(pipeline, sides);
  const error = before.error ?? after.error ?? diff.error;
  if (error) {
    const retry = () => void Promise.all([before.refetch(), after.refetch(), diff.refetch()]);
    return <ErrorState title="The versions could not be compared" error={error} onRetry={retry} />;
  }
  if (!before.data || !after.data || !diff.data) return <Loading what="the comparison" />;
  return (
    <div className={classes.comparison}>
      <Canvases before={before.data} after={after.data} changes={diff.data.changes} sides={sides} />
      <Changes changes={diff.data.changes} sides={sides} />
    </div>
  );
}

interface CanvasesProps {
  before: Content;
  after: Content;
  changes: Parameters<typeof marksOf>[0];
  sides: Sides;
}

function Canvases({ before, after, changes, sides }: CanvasesProps) {
  const [viewport, setViewport] = useState<Viewport>({ x: 0, y: 0, zoom: 1 });
  // A node that is on both sides stands at the same place, so that the eye finds it.
  const places = useMemo(() => ({ ...placesOf(before), ...placesOf(after) }), [before, after]);
  const isWide = isWideGraph(places);
  const shared = { places, viewport, onViewport: setViewport };
  return (
    <div className={classes.canvases} key={`${isWide}`} data-wide={isWide || undefined}>
      <StillCanvas
        title={sideTitle(sides.old)}
        document={before.document}
        marks={marksOf(changes, "old")}
        {...shared}
      />
      <StillCanvas
        title={sideTitle(sides.new)}
        document={after.document}
        marks={marksOf(changes, "new")}
        {...shared}
      />
    </div>
  );
}

/** A pipeline that came from SQL or text has no layout of its own. */
const placesOf = ({ document, layout }: Content): Layout => placed(graphOf(document, layout));
