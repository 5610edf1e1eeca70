import type { Config, Json, Operator } from "@/api/types";

/** One line that says what a node does: its main setting, or the first one that is set. */
export function summaryOf(config: Readonly<Config>, operator: Operator | undefined): string {
  const main = operator?.positional;
  const [name, value] = main && main in config ? [main, config[main]] : (Object.entries(config)[0] ?? []);
  if (value === undefined || value === null || value === "") return operator?.summary ?? "";
  // A number alone says little.
  return typeof value === "number" ? `${name?.replaceAll("_", " ")} ${value}` : written(value);
}

function written(value: Json): string {
  if (Array.isArray(value)) return value.map(written).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
