import type { JobState, VersionInfo } from "@/api/types";
import { useJobs } from "../start/queries";
import type { Sides } from "./sides";
import { VersionEntry } from "./VersionEntry";
import classes from "./VersionList.module.css";

const RUNS: ReadonlySet<JobState> = new Set(["running", "paused"]);

interface VersionListProps {
  pipeline: string;
  versions: VersionInfo[];
  sides: Sides | null;
  onSides: (sides: Sides) => void;
}

/** Newest first, the draft above them. Each can be put on either side of the comparison. */
export function VersionList({ pipeline, versions, sides, onSides }: VersionListProps) {
  const { data: jobs = [] } = useJobs();
  const job = jobs.find((known) => known.pipeline === pipeline && RUNS.has(known.state));
  if (sides === null) return null;
  return (
    <ol className={classes.list} aria-label="Versions, the newest first">
      <VersionEntry
        side="draft"
        pipeline={pipeline}
        version={null}
        isRunning={false}
        sides={sides}
        onSides={onSides}
      />
      {versions.toReversed().map((version) => (
        <VersionEntry
          key={version.number}
          side={version.number}
          pipeline={pipeline}
          version={version}
          isRunning={job?.version === version.number}
          sides={sides}
          onSides={onSides}
        />
      ))}
    </ol>
  );
}
