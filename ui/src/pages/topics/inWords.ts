import { bytes } from "../common/format";

const UNITS: [name: string, lengthMs: number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** What a setting in milliseconds or bytes comes to; nothing for others. By Kafka's custom -1 is no limit. */
export function inWords(name: string, value: string | null): string {
  const number = Number(value);
  if (value === null || !Number.isInteger(number)) return "";
  if (number === -1 && /\.(ms|bytes|records)$/.test(name)) return "no limit";
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
