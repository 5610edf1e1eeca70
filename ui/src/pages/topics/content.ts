import type { Content } from "./types";

const LINE_CHARACTERS_MAX = 400;

/** On one line, cut where it is long. */
export function contentLine(content: Content): string {
  if (content.encoding === "null") return "–";
  const text = content.encoding === "json" ? JSON.stringify(content.value) : String(content.value);
  return text.length > LINE_CHARACTERS_MAX ? `${text.slice(0, LINE_CHARACTERS_MAX)}…` : text;
}

/** All of it, JSON with indents. */
export function contentBlock(content: Content): string {
  if (content.encoding === "null") return "no value";
  return content.encoding === "json" ? JSON.stringify(content.value, null, 2) : String(content.value);
}
