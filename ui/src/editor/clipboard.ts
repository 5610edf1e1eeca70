/** Copy and paste as text notation, so that pipelines travel through chats, files and issues. */
import { notifications } from "@mantine/notifications";
import { check } from "@/api/pipelines";
import { messageOf } from "@/api/problem";
import type { DocumentBody, LayoutBody } from "@/api/types";
import { documentOf, type Graph, graphOf, subgraph } from "@/document/graph";
import { presentGraph, useDocument } from "@/stores/documentStore";
import { deleteSelected, paste, selectedIds } from "./editing";

const tell = (message: string, color = "gray") => notifications.show({ message, color });

/** Text notation of the part, or JSON where it has none. */
async function written(part: Graph): Promise<string> {
  const document = documentOf(part, useDocument.getState().pipeline);
  const { notations } = await check(document.name, { document });
  return notations.text ?? JSON.stringify(document, null, 2);
}

export async function copySelected(): Promise<void> {
  const ids = new Set(selectedIds());
  if (ids.size === 0) return;
  try {
    await navigator.clipboard.writeText(await written(subgraph(presentGraph(), ids)));
    tell(`${ids.size} ${ids.size === 1 ? "node" : "nodes"} copied as text`);
  } catch (error) {
    tell(`Could not copy: ${messageOf(error)}`, "red");
  }
}

export async function cutSelected(): Promise<void> {
  await copySelected();
  deleteSelected();
}

/** A pipeline from any notation. Raises ApiProblem with the place where it does not parse. */
export async function readNotation(text: string, notation: "json" | "text" | "sql"): Promise<Graph> {
  const name = useDocument.getState().pipeline;
  if (notation === "json") {
    const { layout = {}, ...document } = JSON.parse(text) as DocumentBody & { layout?: LayoutBody };
    const view = await check(name, { document: { ...document, name } });
    return graphOf(view.document, layout);
  }
  const view = await check(name, notation === "sql" ? { sql: text } : { text });
  return graphOf(view.document, {});
}

export async function pasteText(text: string): Promise<void> {
  if (text.trim() === "") return;
  try {
    const part = await readNotation(text, text.trimStart().startsWith("{") ? "json" : "text");
    paste(part, "paste");
  } catch (error) {
    tell(`Could not paste: ${messageOf(error)}`, "red");
  }
}

export async function pasteFromClipboard(): Promise<void> {
  try {
    await pasteText(await navigator.clipboard.readText());
  } catch (error) {
    tell(`Could not read the clipboard: ${messageOf(error)}`, "red");
  }
}

export function duplicateSelected(): void {
  const ids = new Set(selectedIds());
  if (ids.size > 0) paste(subgraph(presentGraph(), ids), "duplicate");
}
