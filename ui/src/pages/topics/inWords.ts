import { bytes } from "@/shared/format";

const UNITS: [name: string, lengthMs: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/**
 * What a setting in milliseconds or bytes comes to; nothing for others. By Kafka's custom -1 and the largest number
 * are no limit, and -2 of a local limit is the same as for all.
 */
export function inWords(name: string, value: string | null): string {
  const number = Number(value);
  if (value === null || !Number.isInteger(number)) return "";
  const isLimit = /\.(ms|bytes|records)$/.test(name);
  if (isLimit && (number === -1 || number > Number.MAX_SAFE_INTEGER)) return "no limit";
  if (isLimit && number === -2 && name.startsWith("local.")) return `as ${name.slice("local.".length)}`;
  if (number < 0) return "";
  if (name.endsWith(".bytes")) return bytes(number);
  return name.endsWith(".ms") ? duration(number) : "";
}

function duration(lengthMs: number): string {
  const unit = UNITS.find(([, length]) => lengthMs >= length && lengthMs % length === 0);
  if (unit === undefined) return "";
  const count = lengthMs / unit[1];
  return `${count} ${unit[0]}${count === 1 ? "" : "s"}`;
}
