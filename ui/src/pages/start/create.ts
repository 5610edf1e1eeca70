import { useMutation, useQueryClient } from "@tanstack/react-query";
import { request, segment } from "@/api/client";
import type { DraftView } from "@/api/types";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { notifyFailure } from "../common/notify";
import { PIPELINES_KEY } from "./queries";

/** What a new pipeline begins with. */
export type Beginning = { kind: "blank" } | { kind: "sql"; sql: string };

interface NewPipeline {
  name: string;
  from: Beginning;
}

/** Makes a draft of a new name and opens it. Refusals, such as a name that was taken meanwhile, are the mutation's. */
export function useCreatePipeline() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ name, from }: NewPipeline) =>
      request<DraftView>("PUT", `/api/pipelines/${segment(name)}/draft`, {
        body: { expected_revision: 0, ...content(name, from) },
      }),
    onSuccess: (_draft, { name }) => {
      void queryClient.invalidateQueries({ queryKey: PIPELINES_KEY });
      navigate(paths.pipeline(name));
    },
  });
}

function content(name: string, from: Beginning) {
  return from.kind === "sql"
    ? { sql: from.sql, name }
    : { document: { format: 1, name, nodes: [], edges: [] } };
}

interface UseTemplate {
  template: string;
  title: string;
  name: string;
  isRun: boolean;
}

/** Makes a pipeline of a template and opens it; with `isRun` it is deployed while its canvas is shown already. */
export function useStartTemplate() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ template, name }: UseTemplate) =>
      request<DraftView>("POST", `/api/templates/${segment(template)}/use`, { body: { as: name } }),
    onSuccess: (draft, { name, title, isRun }) => {
      void queryClient.invalidateQueries({ queryKey: PIPELINES_KEY });
      navigate(paths.pipeline(name));
      if (isRun) void deploy(name, draft.revision, `From the template ${title}`);
    },
    onError: (error, { title }) => notifyFailure(`${title} could not be used`, error),
  });
}

async function deploy(name: string, revision: number, note: string): Promise<void> {
  try {
    await request("POST", `/api/pipelines/${segment(name)}/deploy`, {
      body: { expected_revision: revision, note, author: "" },
    });
  } catch (error) {
    notifyFailure(`${name} could not be started`, error);
  }
}
