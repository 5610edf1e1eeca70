/** Shapes of the API, generated from openapi.json, under the names that the editor uses. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Json = boolean | number | string | null | Json[] | { [key: string]: Json };
export type Config = Record<string, Json>;

export type NodeBody = Omit<Schemas["NodeModel"], "config"> & { config: Config };
export type EdgeBody = Schemas["EdgeModel"];
export type DocumentBody = Omit<Schemas["DocumentModel"], "nodes"> & { nodes: NodeBody[] };
export type Position = Schemas["Position"];
export type LayoutBody = Record<string, Position>;
export type Column = Schemas["ColumnView"];
export type Schema = Schemas["SchemaView"];
export type Port = Schemas["PortView"];
export type Problem = Schemas["ProblemView"];
export type Place = Schemas["PlaceView"];
export type ProblemDetails = Partial<Schemas["ProblemDetails"]>;
export type Notations = Schemas["Notations"];
export type DraftTexts = Schemas["DraftTexts"];
export type Change = Schemas["ChangeView"];
export type Diff = Schemas["DiffView"];
export type VersionInfo = Schemas["VersionInfoView"];
export type PipelineEntry = Schemas["PipelineEntry"];
export type PipelineList = Schemas["PipelineList"];
export type TemplateList = Schemas["TemplateList"];
export type JobView = Schemas["JobView"];
export type JobState = JobView["state"];
export type SignalView = Schemas["SignalView"];
export type JobError = Schemas["JobError"];
export type NodeFigures = Schemas["NodeFigures"];
export type EdgeFigures = Schemas["EdgeFigures"];
export type JobEvent = Schemas["JobEvent"];
export type EventList = Schemas["EventList"];
export type TopicList = Schemas["TopicList"];

type WithDocument<View> = Omit<View, "document"> & { document: DocumentBody };
export type CheckView = WithDocument<Schemas["CheckView"]>;
export type DraftView = WithDocument<Schemas["DraftView"]>;
export type PipelineView = WithDocument<Schemas["PipelineView"]>;
export type DeployView = Omit<Schemas["DeployView"], "draft"> & { draft: DraftView };

/** The JSON schema of an operator's config, as far as forms use it. */
export interface SettingSchema {
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  default?: Json;
  enum?: Json[];
  items?: SettingSchema;
  anyOf?: SettingSchema[];
  properties?: Record<string, SettingSchema>;
  required?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minItems?: number;
  $ref?: string;
  $defs?: Record<string, SettingSchema>;
}

export type Operator = Omit<Schemas["OperatorView"], "settings"> & { settings: SettingSchema };
export type Kind = Operator["kind"];

export type MetricsTick = Schemas["MetricsTick"];
export type NoticeView = Schemas["NoticeView"];
export type SampleView = Omit<Schemas["SampleView"], "rows"> & { rows: Record<string, Json>[] };
export type RowErrorList = Schemas["RowErrorList"];
