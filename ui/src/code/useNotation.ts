import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { check } from "@/api/pipelines";
import { ApiProblem, messageOf } from "@/api/problem";
import { type Graph, graphOf } from "@/document/graph";
import { execute, noteText, useDocument, type WrittenLanguage } from "@/stores/documentStore";
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
async function readText(
  language: WrittenLanguage,
  text: string,
  signal?: AbortSignal,
  onRead?: () => void,
): Promise<void> {
  const { pipeline } = useDocument.getState();
  const { document } = await check(pipeline, language === "sql" ? { sql: text } : { text }, signal);
  const now = useDocument.getState();
  if (now.pipeline !== pipeline || now.texts[language] !== text) return;
  execute({ kind: "rewrite", graph: graphOf(document, {}), label: `edit as ${language}` });
  onRead?.();
  noteText(language, undefined);
}

/**
 * A notation of the open pipeline, both ways. What is typed stays as it was typed while it is read into the
 * document; the canonical spelling comes back when the pipeline is changed elsewhere. A text that cannot be read is
 * kept with the draft until it can be, or is given up.
 */
export function useNotation(language: Language) {
  const told = useDocument((state) => state.told.notations[language]);
  const present = useDocument((state) => state.history.present);
  const unread = useDocument((state) => (language === "python" ? undefined : state.texts[language]));
  const [typed, setTyped] = useState<string | null>(unread ?? null);
  const [problem, setProblem] = useState<unknown>(null);
  /** What was read last, and the graph that it stands for: any other one came from elsewhere. */
  const read = useRef<{ text: string | null; graph: Graph }>({ text: null, graph: present });

  useEffect(() => {
    if (typed === null || unread !== undefined) return;
    if (read.current.text !== typed || !isSameMeaning(read.current.graph, present)) setTyped(null);
  }, [typed, unread, present]);

  useEffect(() => {
    if (unread === undefined || language === "python") {
      setProblem(null);
      return;
    }
    const abort = new AbortController();
    const readIn = async () => {
      try {
        await readText(language, unread, abort.signal, () => {
          read.current = { text: unread, graph: useDocument.getState().history.present };
        });
      } catch (error) {
        if (!abort.signal.aborted) setProblem(error);
      }
    };
    const timer = setTimeout(() => void readIn(), READ_DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [unread, language]);

  // Whoever leaves the tab quickly has still written it; what cannot be read stays with the draft.
  useEffect(
    () => () => {
      const left = language === "python" ? undefined : useDocument.getState().texts[language];
      if (left !== undefined && language !== "python") readText(language, left).catch(() => {});
    },
    [language],
  );

  const text = unread ?? typed ?? told;
  const write = useCallback(
    (next: string) => {
      if (next === text || language === "python") return;
      setTyped(next);
      noteText(language, next);
    },
    [text, language],
  );
  const giveUp = useCallback(() => {
    if (language !== "python") noteText(language, undefined);
    setTyped(null);
  }, [language]);
  const marks = useMemo<Mark[]>(() => {
    const at = problem instanceof ApiProblem ? problem.details.place : null;
    return at ? [{ line: at.line, column: at.column, message: messageOf(problem) }] : [];
  }, [problem]);
  const failure = problem === null ? null : describe(problem);
  return { text, write, giveUp, marks, failure, isAhead: unread !== undefined };
}
