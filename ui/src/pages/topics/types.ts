/** What the API says of topics and groups. */
import type { components } from "@/api/schema";
import type { Json } from "@/api/types";

type Schemas = components["schemas"];

export type TopicEntry = Schemas["TopicEntry"];
export type TopicView = Schemas["TopicView"];

/** A key, a value or a header: a JSON value, a text, base64 of bytes that are neither, or nothing. */
export interface Content {
  encoding: "json" | "text" | "base64" | "null";
  value: Json;
  size: number;
}

export interface Message {
  partition: number;
  offset: number;
  timestamp: string | null;
  key: Content;
  value: Content;
  headers: { name: string; content: Content }[];
  size: number;
  error: string | null;
}

/** `next` continues where this page ended, also where the time was up: then `is_complete` is false. */
export interface MessagePage {
  messages: Message[];
  next: string | null;
  is_complete: boolean;
  scanned: number;
  took_ms: number;
}

export interface Produced {
  topic: string;
  partition: number;
  offset: number;
}

export interface GroupEntry {
  name: string;
  state: string;
  members: number;
  topics: string[];
  lag: number;
}

export interface GroupList {
  groups: GroupEntry[];
}

export interface GroupView {
  name: string;
  state: string;
  members: { id: string; client_id: string; host: string }[];
  offsets: {
    topic: string;
    partition: number;
    committed: number | null;
    start_offset: number;
    end_offset: number;
    lag: number | null;
  }[];
}

export interface ResetView {
  group: string;
  topic: string;
  dry_run: boolean;
  offsets: { partition: number; old: number | null; new: number }[];
}
