import type { EdgeFigures } from "@/api/types";

export type Pressure = "idle" | "flowing" | "building" | "high";

/** Rows are this far behind, in seconds at the present rate, before an edge counts as under pressure. */
const BUILDING_S = 5;
const HIGH_S = 30;
const LAG_IGNORED = 100;
const WIDTH_MIN_PX = 1.5;
const WIDTH_MAX_PX = 6;

/** How much waits before this edge, measured by how long it would take to work off. */
export function pressureOf({ rate, lag }: Pick<EdgeFigures, "rate" | "lag">): Pressure {
  const waiting = lag ?? 0;
  if (waiting <= LAG_IGNORED) return rate > 0 ? "flowing" : "idle";
  const behindS = rate > 0 ? waiting / rate : Number.POSITIVE_INFINITY;
  if (behindS > HIGH_S) return "high";
  return behindS > BUILDING_S ? "building" : "flowing";
}

/** A thicker line for more rows: one step for each power of ten. */
export function widthOf(rate: number): number {
  return Math.min(WIDTH_MAX_PX, WIDTH_MIN_PX + Math.log10(1 + Math.max(0, rate)) * 0.8);
}

const UNITS = ["", "k", "M", "G", "T"];

/** `950`, `1.2k`, `34M`: at most four characters and a unit. */
export function short(value: number): string {
  let rest = Math.abs(value);
  let unit = 0;
  while (rest >= 999.5 && unit < UNITS.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  const digits =
    rest < 10 && (unit > 0 || !Number.isInteger(rest))
      ? rest.toFixed(1).replace(/\.0$/, "")
      : String(Math.round(rest));
  return `${value < 0 ? "-" : ""}${digits}${UNITS[unit]}`;
}

/** What stands above an edge: rate and total. */
export const flowLabel = ({ rate, rows }: EdgeFigures): string => `${short(rate)}/s · ${short(rows)}`;

/** What stands below an edge where something waits. */
export const lagLabel = ({ lag }: EdgeFigures): string | null => (lag ? `lag ${short(lag)}` : null);

/** Both in one line. */
export const edgeLabel = (figures: EdgeFigures): string =>
  [flowLabel(figures), lagLabel(figures)].filter((part) => part !== null).join(" · ");
