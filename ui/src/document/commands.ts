/** Everything that can be done to a graph, as data. */
import type { Config, Json, Position } from "@/api/types";
import type { Edge, Graph, Layout } from "./graph";

export interface PortNames {
  inputs: readonly string[];
  outputs: readonly string[];
}

export type Command =
  | { kind: "add"; part: Graph; label?: string }
  | { kind: "remove"; ids: readonly string[]; edges: readonly Edge[] }
  | { kind: "remove-and-reconnect"; ids: readonly string[] }
  | {
      kind: "insert";
      edge: Edge;
      id: string;
      operator: string;
      config: Config;
      input: string;
      output: string;
      position: Position;
      /** Nodes that make room for it. */
      moved?: Layout;
    }
  | { kind: "splice"; edge: Edge; id: string; input: string; output: string; position: Position }
  | { kind: "replace"; id: string; operator: string; config: Config; ports: PortNames }
  | { kind: "connect"; edge: Edge }
  | { kind: "set"; id: string; setting: string; value: Json | undefined }
  | { kind: "configure"; id: string; config: Config }
  | { kind: "rename"; id: string; to: string }
  | { kind: "move"; positions: Layout; label?: string }
  | { kind: "rewrite"; graph: Graph; label: string };

/** What another tab or somebody else saved, taken over. */
export const ELSEWHERE = "changes made elsewhere";

const count = (ids: readonly string[], one: string) =>
  ids.length === 1 ? `${one} ${ids[0]}` : `${ids.length} ${one}s`;

/** What was done, for the tooltip of undo and for screen readers. */
export function labelOf(command: Command): string {
  switch (command.kind) {
    case "add":
      return command.label ?? `add ${count(Object.keys(command.part.nodes), "node")}`;
    case "remove":
      return command.ids.length > 0 ? `delete ${count(command.ids, "node")}` : "delete a connection";
    case "remove-and-reconnect":
      return `delete ${count(command.ids, "node")} and reconnect`;
    case "insert":
    case "splice":
      return `insert ${command.id}`;
    case "replace":
      return `replace ${command.id} by ${command.operator}`;
    case "connect":
      return `connect ${command.edge.source} to ${command.edge.target}`;
    case "set":
      return `change ${command.setting} of ${command.id}`;
    case "configure":
      return `change ${command.id}`;
    case "rename":
      return `rename ${command.id} to ${command.to}`;
    case "move":
      return command.label ?? "move";
    case "rewrite":
      return command.label;
  }
}

/** Commands with the same key, one right after the other, are one step of undo: typing in a field or a notation, here or elsewhere. */
export function mergeKeyOf(command: Command): string | null {
  if (command.kind === "set") return `set ${command.id} ${command.setting}`;
  const isTyped =
    command.kind === "rewrite" && (command.label.startsWith("edit as") || command.label === ELSEWHERE);
  return isTyped ? command.label : null;
}
