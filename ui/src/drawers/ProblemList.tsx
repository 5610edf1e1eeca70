import { Text, UnstyledButton } from "@mantine/core";
import { IconAlertTriangleFilled } from "@tabler/icons-react";
import type { Problem } from "@/api/types";
import { focusNode } from "@/canvas/focus";
import { useJobFailure } from "@/canvas/nodeMarks";
import { EmptyState } from "@/shared/EmptyState";
import { firstLine } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { selectNodes, show } from "@/stores/uiStore";
import classes from "./ProblemList.module.css";

function goTo({ node }: Pick<Problem, "node">): void {
  if (!node) return;
  show({ tab: "canvas", nodeTab: "settings" });
  selectNodes([node]);
  focusNode(node);
}

/** Everything that keeps the draft from running, and why the job failed; a click goes there. */
export function ProblemList() {
  const problems = useDocument((state) => state.told.problems);
  const failure = useJobFailure();
  if (problems.length === 0 && failure === null)
    return <EmptyState title="No problems">This draft can be deployed.</EmptyState>;
  return (
    <ul className={classes.list}>
      {failure && (
        <li>
          <UnstyledButton className={classes.problem} onClick={() => goTo(failure)} disabled={!failure.node}>
            <IconAlertTriangleFilled size={14} aria-hidden className={classes.icon} />
            {failure.node && <b>{failure.node}</b>}
            <Text size="sm" component="span">
              The job failed: {firstLine(failure.message)}
              {failure.hint && <span className={classes.hint}>: {failure.hint}</span>}
            </Text>
          </UnstyledButton>
        </li>
      )}
      {problems.map((problem) => (
        <li key={`${problem.node} ${problem.code} ${problem.message}`}>
          <UnstyledButton className={classes.problem} onClick={() => goTo(problem)} disabled={!problem.node}>
            <IconAlertTriangleFilled size={14} aria-hidden className={classes.icon} />
            {problem.node && <b>{problem.node}</b>}
            <Text size="sm" component="span">
              {firstLine(problem.message)}
              {problem.hint && <span className={classes.hint}>: {problem.hint}</span>}
            </Text>
          </UnstyledButton>
        </li>
      ))}
    </ul>
  );
}
