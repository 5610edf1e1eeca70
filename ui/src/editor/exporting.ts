import { documentOf } from "@/document/graph";
import { useDocument } from "@/stores/documentStore";

export type ExportFormat = "json" | "text" | "sql";

const ENDINGS: Readonly<Record<ExportFormat, string>> = { json: "json", text: "txt", sql: "sql" };

/** The pipeline as a file's content; null where it has no such notation. */
export function exported(format: ExportFormat): string | null {
  const { history, pipeline, told } = useDocument.getState();
  if (format !== "json") return told.notations[format];
  const document = documentOf(history.present, pipeline);
  return `${JSON.stringify({ ...document, layout: history.present.layout }, null, 2)}\n`;
}

export function exportAs(format: ExportFormat): void {
  const text = exported(format);
  if (text === null) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(
    new Blob([text], { type: format === "json" ? "application/json" : "text/plain" }),
  );
  link.download = `${useDocument.getState().pipeline}.${ENDINGS[format]}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
