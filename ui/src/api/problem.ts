import type { ProblemDetails } from "./types";

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

  get code(): string | null {
    return this.details.code ?? null;
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
