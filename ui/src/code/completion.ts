import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

const FUNCTIONS = [
  "abs",
  "avg",
  "cast",
  "coalesce",
  "concat",
  "count",
  "date_trunc",
  "floor",
  "if",
  "lower",
  "max",
  "min",
  "round",
  "split",
  "substring",
  "sum",
  "to_timestamp",
  "trim",
  "upper",
];

/** Offers the columns that come into the node, then common SQL functions. */
export function columnSource(columns: () => readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w`]+/);
    if (!word && !context.explicit) return null;
    return {
      from: word?.from ?? context.pos,
      options: [
        ...columns().map((label) => ({ label, type: "variable", detail: "column", boost: 1 })),
        ...FUNCTIONS.map((label) => ({ label, type: "function", apply: `${label}(` })),
      ],
    };
  };
}
