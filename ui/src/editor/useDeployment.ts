import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type DeployWishes, deploy, readJob } from "@/api/pipelines";
import type { DraftView, JobView } from "@/api/types";
import { presentGraph, toldBy, useDocument } from "@/stores/documentStore";
import {
  lastVerdictOf,
  type Step,
  stepAfter,
  stepOf,
  touchedNodes,
  type Verdict,
  verdictOf,
} from "./deployProgress";
import { saveNow } from "./draftSync";
import { jobKey, useJob } from "./useJobState";

const LOOK_MS = 500;
/** After this many looks nobody waits any longer: a topic may stay empty for days. */
const LOOKS_MAX = 240;

export type Wishes = Omit<DeployWishes, "expected_revision">;

export interface Deployment {
  /** The version that was made; null until the server has answered. */
  readonly version: number | null;
  /** The version that ran before. */
  readonly before: number | null;
  readonly nodes: readonly string[];
  readonly step: Step;
  readonly verdict: Verdict;
  readonly job: JobView | null;
}

/** One deploy from the press of the button to the verdict on the new version. */
export function useDeployment(pipeline: string) {
  const queries = useQueryClient();
  const { job: running, state } = useJob(pipeline);
  const [begun, setBegun] = useState<Pick<Deployment, "before" | "nodes"> | null>(null);
  const { mutate, data, variables, isPending, error, reset } = useMutation({
    mutationFn: async (wishes: Wishes) => {
      await saveNow();
      const { told } = useDocument.getState();
      const isUp = state === "running" || state === "paused";
      const nodes = touchedNodes(told.changes, Object.keys(presentGraph().nodes));
      setBegun({ before: isUp ? (running?.version ?? null) : null, nodes });
      return deploy(pipeline, { expected_revision: told.revision, ...wishes });
    },
    onSuccess: ({ draft }) => noteDeployed(pipeline, draft),
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: jobKey(pipeline) });
      void queries.invalidateQueries({ queryKey: ["pipelines"] });
    },
  });
  const version = data?.version.number ?? null;
  const looked = useVerdict(pipeline, version);
  const step = useSteps(state, isPending);
  const deployment: Deployment | null =
    begun === null || error !== null
      ? null
      : { ...begun, ...looked, version, step: version === null ? step : stepAfter(looked.verdict) };
  const forget = () => {
    setBegun(null);
    reset();
  };
  return { begin: mutate, tried: variables, deployment, isPending, error, forget };
}

type Looked = Pick<Deployment, "job" | "verdict">;

/** Looks at the job until it can be told whether the version does its work, or for too long. */
function useVerdict(pipeline: string, version: number | null): Looked {
  const { data } = useQuery({
    queryKey: [...jobKey(pipeline), "verdict", version],
    queryFn: async ({ client, queryKey }): Promise<Looked> => {
      const looks = client.getQueryState(queryKey)?.dataUpdateCount ?? 0;
      const job = await readJob(pipeline);
      return { job, verdict: looks < LOOKS_MAX ? verdictOf(job) : lastVerdictOf(job) };
    },
    enabled: version !== null,
    refetchInterval: ({ state }) => ((state.data?.verdict ?? null) === null ? LOOK_MS : false),
  });
  return data ?? { job: null, verdict: null };
}

/** The step until the server answers; it takes the state before the press into account. */
function useSteps(state: ReturnType<typeof useJob>["state"], isPending: boolean): Step {
  const [hadRun, setHadRun] = useState(false);
  const [hasStopped, setHasStopped] = useState(false);
  const isUp = state === "running" || state === "paused";
  useEffect(() => {
    if (isPending) {
      if (!isUp) setHasStopped(true);
      return;
    }
    setHadRun(isUp);
    setHasStopped(false);
  }, [isPending, isUp]);
  return stepOf(state, hadRun, hasStopped);
}

/** The draft that came back is the one that was deployed: the undo log stays. */
function noteDeployed(pipeline: string, draft: DraftView): void {
  if (useDocument.getState().pipeline === pipeline) useDocument.setState({ told: toldBy(draft) });
}
