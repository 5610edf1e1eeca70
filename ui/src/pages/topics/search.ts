/** Where to look for messages. */
export type Start = "latest" | "earliest" | "offset" | "timestamp";

export interface Search {
  start: Start;
  /** An offset, or a local time as `datetime-local` has it; empty for the other starts. */
  at: string;
  partition: number | null;
  filter: string;
  format: string;
}

export const PAGE_SIZE = 50;
export const NEWEST: Search = { start: "latest", at: "", partition: null, filter: "", format: "auto" };

/** `?partition=…&offset=…` of a link to a record; else the newest messages. */
export function searchOf(parameters: URLSearchParams): Search {
  const [partition, offset] = [parameters.get("partition"), parameters.get("offset")];
  const isPlace = [partition, offset].every((text) => text !== null && /^\d{1,19}$/.test(text));
  return isPlace ? { ...NEWEST, start: "offset", at: offset ?? "", partition: Number(partition) } : NEWEST;
}

/** Why the search cannot be done; null if it can. */
export function searchProblem({ start, at }: Search): string | null {
  if (start === "offset" && !/^\d{1,19}$/.test(at)) return "An offset is a whole number";
  if (start === "timestamp" && Number.isNaN(new Date(at).getTime())) return "Choose a date and a time";
  return null;
}

/** As the API takes it. */
export function searchQuery(search: Search): Record<string, string | number | null> {
  const { start, at, partition, filter, format } = search;
  const moment = start === "timestamp" ? `timestamp:${new Date(at).toISOString()}` : null;
  return {
    from: moment ?? (start === "offset" ? `offset:${at}` : start),
    partition,
    filter,
    format: format === "auto" ? null : format,
    limit: PAGE_SIZE,
  };
}
