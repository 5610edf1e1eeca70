import type { Json } from "@/api/types";

/** What was typed as a signal's parameters; none if nothing was. Null where it is no JSON object. */
export function parametersOf(text: string): Record<string, Json> | null {
  if (text.trim() === "") return {};
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
