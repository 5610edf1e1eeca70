import { short } from "@/live/figures";
import { useMetrics } from "@/stores/metricsStore";

/** Rows that leave the node, and those that were bad; nothing while the pipeline does not run. */
export function NodeFigures({ pipeline, node }: { pipeline: string; node: string }) {
  const figures = useMetrics((state) => state.jobs[pipeline]?.nodes[node]);
  if (!figures) return null;
  return (
    <span data-live style={{ fontVariantNumeric: "tabular-nums" }}>
      {figures.rows_bad > 0 && <b style={{ color: "var(--hr-bad)" }}>{short(figures.rows_bad)} bad · </b>}
      {short(figures.rate)}/s
    </span>
  );
}
