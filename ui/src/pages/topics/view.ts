import { useSearch } from "wouter";
import { navigate, readHashSearch, useHashLocation } from "@/app/hashLocation";

/** Which part of the page is shown, kept in the address. */
export function useView(initial: string): [view: string, setView: (view: string | null) => void] {
  const [path] = useHashLocation();
  const view = new URLSearchParams(useSearch()).get("view") ?? initial;
  const setView = (next: string | null) => {
    const search = readHashSearch();
    search.set("view", next ?? initial);
    navigate(`${path}?${search}`, { replace: true });
  };
  return [view, setView];
}
