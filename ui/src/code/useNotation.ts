import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { check } from "@/api/pipelines";
import { ApiProblem, messageOf } from "@/api/problem";
import { type Graph, graphOf } from "@/document/graph";
import { execute, useDocument } from "@/stores/documentStore";
import type { Mark } from "./diagnostics";
import type { Language } from "./languages";

const READ_DELAY_MS = 300;

const isSameMeaning = (one: Graph, other: Graph): boolean =>
  one.nodes === other.nodes && one.edges === other.edges;

const describe = (error: unknown): string => {
  const hint = error instanceof ApiProblem ? error.hint : null;
  return hint ? `${messageOf(error)}\n${hint}` : messageOf(error);
};

/** Reads the text into the open pipeline, as one step of undo. Raises what the server refuses it with. */
async function rewrite(language: "sql" | "text", text: string, signal?: AbortSignal): Promise<void> {
  const { pipeline } = useDocument.getState();
  const { document } = await check(pipeline, language === "sql" ? { sql: text } : { text }, signal);
  if (useDocument.getState().pipeline !== pipeline) return;
  execute({ kind: "rewrite", graph: graphOf(document, {}), label: `edit as ${language}` });
}

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
  /** What was typed and is not in the document yet. */
  const waiting = useRef<string | null>(null);

  useEffect(() => {
    if (typed === null || isAhead || isSameMeaning(meant.current, present)) return;
    setTyped(null);
    setProblem(null);
  }, [typed, isAhead, present]);

  useEffect(() => {
    if (typed === null || !isAhead || language === "python") return;
    waiting.current = typed;
    const abort = new AbortController();
    const readIn = async () => {
      try {
        await rewrite(language, typed, abort.signal);
        meant.current = useDocument.getState().history.present;
        waiting.current = null;
        setProblem(null);
        setAhead(false);
      } catch (error) {
        if (!abort.signal.aborted) setProblem(error);
      }
    };
    const timer = setTimeout(() => void readIn(), READ_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed, isAhead, language]);

  // Whoever leaves the tab quickly has still written it; what cannot be read was told while it was typed.
  useEffect(
    () => () => {
      if (waiting.current !== null && language !== "python")
        rewrite(language, waiting.current).catch(() => {});
    },
    [language],
  );

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
