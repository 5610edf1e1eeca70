import { Badge, Tooltip } from "@mantine/core";
import { Link } from "wouter";
import type { JobView, PipelineEntry } from "@/api/types";
import { paths } from "@/app/paths";
import { moment, plural, rate } from "@/shared/format";
import { StateBadge } from "@/shared/StateBadge";
import table from "../common/table.module.css";
import { PipelineActions } from "./PipelineActions";

interface PipelineRowProps {
  pipeline: PipelineEntry;
  job: JobView | null;
}

export function PipelineRow({ pipeline, job }: PipelineRowProps) {
  const { name, latest, draft } = pipeline;
  // All of a pipeline that was never deployed is new: that says nothing.
  const changes = latest === null ? 0 : (draft?.changes ?? 0);
  return (
    <tr className={table.row}>
      <td>
        <Link href={paths.pipeline(name)} className={table.name ?? ""}>
          {name}
        </Link>
      </td>
      <td>
        <Tooltip label={job?.error?.message} disabled={!job?.error}>
          <span>
            <StateBadge state={pipeline.job?.state ?? null} />
          </span>
        </Tooltip>
      </td>
      <td className={table.number} data-live>
        {job?.state === "running" ? rate(totalRate(job)) : "–"}
      </td>
      <td className={table.fit}>
        {latest ? (
          <Link
            href={paths.versions(name)}
            className={table.name ?? ""}
            aria-label={`${versionText(pipeline)}, versions of ${name}`}
          >
            {versionText(pipeline)}
          </Link>
        ) : (
          <span className={table.soft}>never deployed</span>
        )}
      </td>
      <td className={table.fit}>
        {changes > 0 ? (
          <Badge variant="outline" color="var(--hr-warn)" c="var(--hr-warn)" miw="max-content">
            {plural(changes, "change")}
          </Badge>
        ) : (
          <span className={table.soft}>–</span>
        )}
      </td>
      <td className={`${table.soft} ${table.fit} ${table.spare}`}>
        {latest ? moment(latest.saved_at) : "–"}
      </td>
      <td className={table.fit}>
        <PipelineActions pipeline={pipeline} />
      </td>
    </tr>
  );
}

/** Rows that leave the sources in a second: what comes into the pipeline. */
function totalRate(job: JobView): number {
  const targets = new Set(job.edges.map((edge) => edge.target));
  return Object.entries(job.nodes)
    .filter(([node]) => !targets.has(node))
    .reduce((sum, [, figures]) => sum + figures.rate, 0);
}

function versionText({ latest, job }: PipelineEntry): string {
  if (latest === null) return "";
  const running = job?.version;
  return running && running !== latest.number ? `${running} of ${latest.number}` : `${latest.number}`;
}
