// Permalinks live behind the `#`: the server serves one page, and any link survives a reload.
import { useSyncExternalStore } from "react";

function subscribe(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}

function split(): [path: string, search: string] {
  const hash = window.location.hash.replace(/^#\/?/, "/");
  const mark = hash.indexOf("?");
  return mark < 0 ? [hash || "/", ""] : [hash.slice(0, mark), hash.slice(mark + 1)];
}

interface NavigateOptions {
  replace?: boolean;
}

/** Goes to `/path?query`. `replace` leaves no entry in the browser's history. */
export function navigate(to: string, options: NavigateOptions = {}): void {
  const url = `${window.location.pathname}${window.location.search}#${to}`;
  if (options.replace) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The path behind the `#`, for wouter's Router. */
export function useHashLocation(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => split()[0]), navigate];
}
useHashLocation.hrefs = (href: string) => `#${href}`;

/** What follows the `?` behind the `#`. */
export function useHashSearch(): string {
  return useSyncExternalStore(subscribe, () => split()[1]);
}

/** Rewrites query parameters in place, without a history entry and without a re-render of the page. */
export function writeHashSearch(parameters: URLSearchParams): void {
  const query = parameters.toString();
  const [path] = split();
  const url = `${window.location.pathname}${window.location.search}#${path}${query ? `?${query}` : ""}`;
  window.history.replaceState(window.history.state, "", url);
}

export function readHashSearch(): URLSearchParams {
  return new URLSearchParams(split()[1]);
}
