import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { ApiProblem, messageOf } from "@/api/problem";

interface ErrorStateProps {
  /** What could not be done: "The topics could not be read". */
  title: string;
  error: unknown;
  onRetry?: () => void;
}

/** What failed, why, what would be valid, and another try. */
export function ErrorState({ title, error, onRetry }: ErrorStateProps) {
  const problem = error instanceof ApiProblem ? error : null;
  const valid = problem?.details.valid;
  return (
    <Alert color="red" variant="light" title={title} icon={<IconAlertTriangle size={18} />} m="md">
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ whiteSpace: "pre-line" }}>
          {messageOf(error)}
        </Text>
        {problem?.hint && (
          <Text size="sm" c="dimmed">
            {problem.hint}
          </Text>
        )}
        {valid && valid.length > 0 && (
          <Text size="sm" c="dimmed">
            Valid: {valid.join(", ")}
          </Text>
        )}
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
