import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";

/** A fault at a place; line and column count from 1. */
export interface Mark {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Underlines the word at the place, or one sign where there is none. Places beyond the text move to its end. */
export function diagnosticsIn(doc: Text, marks: readonly Mark[]): Diagnostic[] {
  return marks.map(({ line, column, message }) => {
    const found = doc.line(Math.min(Math.max(1, line), doc.lines));
    const from = Math.min(found.from + Math.max(0, column - 1), found.to);
    const word = /^[\w.]+/.exec(doc.sliceString(from, found.to))?.[0].length ?? 1;
    const to = Math.min(from + word, found.to);
    return { from: from === to ? Math.max(found.from, from - 1) : from, to, severity: "error", message };
  });
}
