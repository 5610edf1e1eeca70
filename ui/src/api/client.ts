import { noteOffline, noteOnline } from "./connection";
import { ApiProblem, Unreachable } from "./problem";
import type { ProblemDetails } from "./types";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface RequestOptions {
  body?: unknown;
  signal?: AbortSignal | undefined;
}

/** Gateways in front of a server that is gone answer with these. */
const GATEWAY_STATUSES = new Set([502, 503, 504]);

/**
 * One call of the API. Raises ApiProblem for a refusal and Unreachable when nobody answered;
 * an abort by the caller passes through as it is.
 */
export async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  if (!response.ok) throw await refusal(response);
  noteOnline();
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
}

async function send(method: Method, path: string, { body, signal }: RequestOptions): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteOffline();
    throw new Unreachable(error);
  }
}

async function refusal(response: Response): Promise<Error> {
  const details = (await response.json().catch(() => ({}))) as ProblemDetails;
  const isOurs = details.code !== undefined || details.title !== undefined;
  if (!isOurs && GATEWAY_STATUSES.has(response.status)) {
    noteOffline();
    return new Unreachable(response.status);
  }
  noteOnline();
  return new ApiProblem(response.status, details);
}

/** `/api/x?a=1` with what is undefined or null left out. */
export function withQuery(
  path: string,
  query: Record<string, string | number | boolean | null | undefined>,
): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") parameters.set(key, String(value));
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

/** A part of a path, escaped. */
export const segment = encodeURIComponent;
