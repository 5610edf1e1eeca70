/** Figures and times as people read them. */
const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export const count = (value: number): string => COUNT.format(value);

/** Rows in a second; below ten with one decimal. */
export const rate = (value: number): string =>
  `${value < 10 ? Math.round(value * 10) / 10 : SHORT.format(Math.round(value))}/s`;

export function bytes(value: number | null): string {
  if (value === null) return "–";
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  const scaled = value / 1000 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${BYTE_UNITS[power]}`;
}

/** In the browser's zone, with seconds. */
export const moment = (iso: string | null): string => (iso === null ? "–" : MOMENT.format(new Date(iso)));

/** 1 change, 2 changes. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
