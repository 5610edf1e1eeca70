import { Alert, Text } from "@mantine/core";
import { ApiProblem, messageOf } from "@/api/problem";
import { ErrorState } from "@/shared/ErrorState";

/** The server wants to know where queries begin that cannot go on exactly. */
export const asksForBegin = (error: unknown): boolean =>
  error instanceof ApiProblem && error.code === "needs_begin";

/** Why nothing was started. A question is not drawn as a failure, nor with how other ways of asking spell the answers. */
export function Refusal({ title, error }: { title: string; error: Error }) {
  if (!asksForBegin(error)) return <ErrorState title={title} error={error} />;
  return (
    <Alert color="orange" variant="light" title="Choose where it begins" m="md">
      <Text size="sm" style={{ whiteSpace: "pre-line" }}>
        {messageOf(error)}
      </Text>
    </Alert>
  );
}
