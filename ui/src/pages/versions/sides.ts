import { useSearch } from "wouter";
import type { VersionInfo } from "@/api/types";
import { navigate, readHashSearch, useHashLocation } from "@/app/hashLocation";

/** What is compared: the number of a version, or the draft. */
export type Side = number | "draft";

export interface Sides {
  old: Side;
  new: Side;
}

/** The two sides, kept in the address. Without a choice: the latest version beside the draft. */
export function useSides(versions: VersionInfo[] | undefined): [Sides | null, (sides: Sides) => void] {
  const [path] = useHashLocation();
  const search = new URLSearchParams(useSearch());
  const setSides = (sides: Sides) => {
    const parameters = readHashSearch();
    parameters.set("old", `${sides.old}`);
    parameters.set("new", `${sides.new}`);
    navigate(`${path}?${parameters}`, { replace: true });
  };
  const latest = versions?.at(-1)?.number;
  if (latest === undefined) return [null, setSides];
  return [
    { old: readSide(search.get("old")) ?? latest, new: readSide(search.get("new")) ?? "draft" },
    setSides,
  ];
}

export function readSide(text: string | null): Side | null {
  if (text === "draft") return "draft";
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

export const sideTitle = (side: Side): string => (side === "draft" ? "Draft" : `Version ${side}`);
