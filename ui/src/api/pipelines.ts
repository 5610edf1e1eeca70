/** Calls of the API about pipelines, drafts and jobs. */
import type { Edge } from "@/document/graph";
import { request, segment, withQuery } from "./client";
import type {
  CheckView,
  DeployView,
  DocumentBody,
  DraftTexts,
  DraftView,
  EventList,
  JobView,
  LayoutBody,
  Operator,
  RowErrorList,
  SampleView,
  SignalView,
} from "./types";

export type Notation = { document: DocumentBody } | { sql: string } | { text: string };

const of = (pipeline: string, rest = "") => `/api/pipelines/${segment(pipeline)}${rest}`;
const ofJob = (pipeline: string, rest = "") => `/api/jobs/${segment(pipeline)}${rest}`;

export const readOperators = () =>
  request<{ operators: Operator[]; problems: string[] }>("GET", "/api/operators");

export const readDraft = (pipeline: string) => request<DraftView>("GET", of(pipeline, "/draft"));

export const writeDraft = (
  pipeline: string,
  expectedRevision: number,
  document: DocumentBody,
  layout: Readonly<LayoutBody>,
) =>
  request<DraftView>("PUT", of(pipeline, "/draft"), {
    body: { expected_revision: expectedRevision, document, layout },
  });

/** Keeps a text beside the draft that cannot be read yet; null when there is none any more. */
export const writeDraftText = (pipeline: string, language: "sql" | "text", text: string | null) =>
  request<DraftTexts>("PUT", of(pipeline, `/draft/texts/${language}`), { body: { text } });

export const discardDraft = (pipeline: string) => request<void>("DELETE", of(pipeline, "/draft"));

export const check = (name: string, notation: Notation, signal?: AbortSignal) =>
  request<CheckView>("POST", "/api/check", { body: { name, ...notation }, signal });

export interface DeployWishes {
  expected_revision: number;
  note: string;
  author: string;
  begin: Begin | null;
  reset: boolean;
  confirmed: boolean;
  truncate: boolean;
}

/** Where queries begin that cannot go on exactly. */
export type Begin = "latest" | "last-commit" | "earliest";

export const deploy = (pipeline: string, wishes: DeployWishes) =>
  request<DeployView>("POST", of(pipeline, "/deploy"), { body: wishes });

/** Runs the given version, or else the one that ran last. */
export const start = (pipeline: string, version: number | null = null, begin: Begin | null = null) =>
  request<JobView>("POST", of(pipeline, "/start"), { body: { version, begin, reset: false } });
export const stop = (pipeline: string) => request<JobView>("POST", of(pipeline, "/stop"));

/** A signal to the whole pipeline, or to one of its nodes. */
export type SignalWishes = Pick<SignalView, "kind"> & Partial<Pick<SignalView, "node" | "parameters">>;

/** Answers when the signal is in its place; what becomes of it there is told by the job's events. */
export const sendSignal = (pipeline: string, wishes: SignalWishes) =>
  request<SignalView>("POST", "/api/signals", { body: { pipeline, ...wishes } });

export const readJob = (pipeline: string) => request<JobView>("GET", ofJob(pipeline));
export const readEvents = (pipeline: string, limit: number) =>
  request<EventList>("GET", withQuery(ofJob(pipeline, "/events"), { limit }));

/** The newest rows that a node failed for, the newest last. */
export const readErrors = (pipeline: string, node: string) =>
  request<RowErrorList>("GET", ofJob(pipeline, `/errors/${segment(node)}`));

export interface SampleWishes {
  edge: Edge;
  limit: number;
  filter?: string;
}

export const sample = (pipeline: string, wishes: SampleWishes, signal?: AbortSignal) =>
  request<SampleView>("POST", ofJob(pipeline, "/sample"), { body: wishes, signal });
