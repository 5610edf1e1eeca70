export interface Place {
  line: number;
  column: number;
  marked?: string;
}

export interface Problem {
  code: string;
  message: string;
  node?: string | null;
  setting?: string | null;
  hint?: string | null;
}

/** A problem+json body: what the server refused, why, and what would be valid. */
export interface ProblemDetails {
  title?: string;
  status?: number;
  detail?: string;
  code?: string;
  message?: string;
  hint?: string | null;
  valid?: string[] | null;
  node?: string | null;
  place?: Place | null;
  problems?: Problem[] | null;
  current?: unknown;
}

/** The server answered, and the answer is no. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(status: number, details: ProblemDetails) {
    super(details.message ?? details.detail ?? details.title ?? `the server answered ${status}`);
    this.name = "ApiProblem";
    this.status = status;
    this.details = details;
  }

  get hint(): string | null {
    return this.details.hint ?? null;
  }
}

/** The server did not answer at all. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super("the server does not answer", { cause });
    this.name = "Unreachable";
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
