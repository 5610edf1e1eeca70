/** The log of commands: what was done, and how to go back and forth in it. */
import { apply } from "./apply";
import { type Command, labelOf, mergeKeyOf } from "./commands";
import { EMPTY_GRAPH, type Graph } from "./graph";

interface Step {
  readonly command: Command;
  /** The graph before the command. Graphs share what did not change, so this costs little. */
  readonly before: Graph;
}

export interface History {
  readonly present: Graph;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
}

export const STEPS_MAX = 500;

export const historyOf = (graph: Graph): History => ({ present: graph, done: [], undone: [] });
export const EMPTY_HISTORY = historyOf(EMPTY_GRAPH);

/** Does the command; what was undone before is forgotten. The same object if the command does not fit. */
export function perform(history: History, command: Command): History {
  const after = apply(history.present, command);
  if (after === history.present) return history;
  const last = history.done.at(-1);
  const key = mergeKeyOf(command);
  const isMerged = last !== undefined && key !== null && key === mergeKeyOf(last.command);
  const step: Step = { command, before: isMerged ? last.before : history.present };
  const earlier = isMerged ? history.done.slice(0, -1) : history.done;
  return { present: after, done: [...earlier, step].slice(-STEPS_MAX), undone: [] };
}

export function undo(history: History): History {
  const step = history.done.at(-1);
  if (step === undefined) return history;
  return { present: step.before, done: history.done.slice(0, -1), undone: [...history.undone, step] };
}

export function redo(history: History): History {
  const step = history.undone.at(-1);
  if (step === undefined) return history;
  return {
    present: apply(step.before, step.command),
    done: [...history.done, step],
    undone: history.undone.slice(0, -1),
  };
}

export const undoLabel = ({ done }: History): string | null => labelOfLast(done);
export const redoLabel = ({ undone }: History): string | null => labelOfLast(undone);

function labelOfLast(steps: readonly Step[]): string | null {
  const step = steps.at(-1);
  return step === undefined ? null : labelOf(step.command);
}
