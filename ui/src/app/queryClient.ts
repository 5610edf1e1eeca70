import { QueryClient } from "@tanstack/react-query";
import { ApiProblem } from "@/api/problem";

const RETRIES_MAX = 3;
const STALE_MS = 5_000;

/** Only a server that did not answer is asked again: what it refused, it would refuse again. */
function shouldRetry(count: number, error: Error): boolean {
  return count < RETRIES_MAX && !(error instanceof ApiProblem);
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: { queries: { retry: shouldRetry, staleTime: STALE_MS }, mutations: { retry: false } },
  });
}
