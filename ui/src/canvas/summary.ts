import type { Config, Json, Operator } from "@/api/types";

/** One line that says what a node does: its main setting, or the first one that is set. */
export function summaryOf(config: Readonly<Config>, operator: Operator | undefined): string {
  const main = operator?.positional;
  const value = main && main in config ? config[main] : Object.values(config)[0];
  if (value === undefined || value === null || value === "") return operator?.summary ?? "";
  return typeof value === "number" ? `${titleOf(main, operator)}${value}` : written(value);
}

function written(value: Json): string {
  if (Array.isArray(value)) return value.map(written).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A number alone says little. */
function titleOf(setting: string | null | undefined, operator: Operator | undefined): string {
  const title = setting && operator?.settings.properties?.[setting]?.title;
  return title ? `${title} ` : "";
}
