/** Where a record is in its topic. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The place that an error names with its record; null where it names none. */
export function placeOf(record: Readonly<Record<string, unknown>> | null | undefined): RecordPlace | null {
  if (!record) return null;
  const { topic, partition, offset } = record;
  const isWhole = typeof topic === "string" && typeof partition === "number" && typeof offset === "number";
  return isWhole ? { topic, partition, offset } : null;
}
