import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { check } from "@/api/pipelines";
import { ApiProblem, messageOf } from "@/api/problem";
import { graphOf } from "@/document/graph";
import { execute, useDocument } from "@/stores/documentStore";
import type { Mark } from "./diagnostics";
import type { Language } from "./languages";

const READ_DELAY_MS = 300;

const describe = (error: unknown): string => {
  const hint = error instanceof ApiProblem ? error.hint : null;
  return hint ? `${messageOf(error)}\n${hint}` : messageOf(error);
};

/**
 * A notation of the open pipeline, both ways. What is typed stays as it was typed while it is read into the
 * document; the canonical spelling comes back when the pipeline is changed elsewhere.
 */
export function useNotation(language: Language) {
  const told = useDocument((state) => state.told.notations[language]);
  const present = useDocument((state) => state.history.present);
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isAhead, setAhead] = useState(false);
  /** The graph that the typed text stands for: any other one came from elsewhere. */
  const meant = useRef(present);

  useEffect(() => {
    if (typed === null || isAhead || meant.current.nodes === present.nodes) return;
    setTyped(null);
    setProblem(null);
  }, [typed, isAhead, present]);

  useEffect(() => {
    if (typed === null || !isAhead || language === "python") return;
    const abort = new AbortController();
    const read = async () => {
      try {
        const { pipeline } = useDocument.getState();
        const notation = language === "sql" ? { sql: typed } : { text: typed };
        const view = await check(pipeline, notation, abort.signal);
        execute({ kind: "rewrite", graph: graphOf(view.document, {}), label: `edit as ${language}` });
        meant.current = useDocument.getState().history.present;
        setProblem(null);
        setAhead(false);
      } catch (error) {
        if (!abort.signal.aborted) setProblem(error);
      }
    };
    const timer = setTimeout(() => void read(), READ_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed, isAhead, language]);

  const text = typed ?? told;
  const write = useCallback(
    (next: string) => {
      if (next === text) return;
      setTyped(next);
      setAhead(true);
    },
    [text],
  );
  const marks = useMemo<Mark[]>(() => {
    const at = problem instanceof ApiProblem ? problem.details.place : null;
    return at ? [{ line: at.line, column: at.column, message: messageOf(problem) }] : [];
  }, [problem]);
  return { text, write, marks, failure: problem === null ? null : describe(problem), isAhead };
}
