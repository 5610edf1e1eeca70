import type { Operator } from "@/api/types";

/** Whether every word of the query is in the operator's name, title or summary. */
export function matches(
  { name, title, summary }: Pick<Operator, "name" | "title" | "summary">,
  query: string,
): boolean {
  const text = `${name} ${title} ${summary}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
