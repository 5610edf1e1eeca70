import { VisuallyHidden } from "@mantine/core";
import type { PipelineEntry } from "@/api/types";
import { Panel } from "../common/Panel";
import table from "../common/table.module.css";
import { PipelineRow } from "./PipelineRow";
import { useJobs } from "./queries";

export function PipelineTable({ pipelines }: { pipelines: PipelineEntry[] }) {
  const { data: jobs = [] } = useJobs();
  const byName = new Map(jobs.map((job) => [job.pipeline, job]));
  return (
    <Panel title="Pipelines" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.wide}>Name</th>
            <th>State</th>
            <th className={table.number}>Rate</th>
            <th>Version</th>
            <th>Draft</th>
            <th className={table.spare}>Saved</th>
            <th className={table.fit}>
              <VisuallyHidden>Actions</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody>
          {pipelines.map((pipeline) => (
            <PipelineRow key={pipeline.name} pipeline={pipeline} job={byName.get(pipeline.name) ?? null} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
