/** Shapes of the API, under the names that the editor uses. */
import type { Problem } from "./problem";

export type Json = boolean | number | string | null | Json[] | { [key: string]: Json };
export type Config = Record<string, Json>;

export interface NodeBody {
  id: string;
  operator: string;
  config: Config;
}

export interface EdgeBody {
  source: string;
  target: string;
  source_port: string;
  target_port: string;
}

export interface DocumentBody {
  format: number;
  name: string;
  nodes: NodeBody[];
  edges: EdgeBody[];
}

export interface Position {
  x: number;
  y: number;
}

export type LayoutBody = Record<string, Position>;

export interface Column {
  name: string;
  type: string;
}

export interface Schema {
  columns: Column[];
}

export interface Port {
  name: string;
  summary: string;
  required: boolean;
}

export type Kind = "source" | "relational" | "serial" | "sink";

/** The JSON schema of an operator's config, as far as forms use it. */
export interface SettingSchema {
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  default?: Json;
  enum?: Json[];
  const?: Json;
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

export interface Operator {
  name: string;
  title: string;
  summary: string;
  kind: Kind;
  inputs: Port[];
  outputs: Port[];
  guarantees: string;
  example: string;
  positional: string | null;
  stateful: boolean;
  settings: SettingSchema;
}

export interface VersionInfo {
  number: number;
  note: string;
  author: string;
  saved_at: string;
  content_hash: string;
}

export interface Change {
  kind: string;
  node?: string | null;
  setting?: string | null;
  old?: string | null;
  new?: string | null;
  text: string;
}

/** A notation, or why the pipeline has none in it. */
export interface Notations {
  sql: string | null;
  text: string | null;
  python: string | null;
  reasons?: Record<string, string>;
}

export interface DraftView {
  revision: number;
  base_version: number | null;
  document: DocumentBody;
  layout: LayoutBody;
  problems: Problem[];
  changes: Change[];
  schemas: Record<string, Schema>;
  notations: Notations;
}

export interface CheckView {
  document: DocumentBody;
  problems: Problem[];
  schemas: Record<string, Schema>;
  notations: Notations;
}
