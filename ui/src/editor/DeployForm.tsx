import { Alert, Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconRocket } from "@tabler/icons-react";
import { useState } from "react";
import { plural } from "@/shared/format";
import { firstLine } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { ChangeList } from "./ChangeList";
import type { Wishes } from "./useDeployment";

const PROBLEMS_SHOWN_MAX = 5;

interface DeployFormProps {
  /** What was asked for the last time, where that did not succeed. */
  tried: Wishes | undefined;
  isBusy: boolean;
  onDeploy: (wishes: Wishes) => void;
  onCancel: () => void;
}

/** What will change, a note for the history, and go. */
export function DeployForm({ tried, isBusy, onDeploy, onCancel }: DeployFormProps) {
  const { told, saveState } = useDocument();
  const [note, setNote] = useState(tried?.note ?? "");
  const [reset, setReset] = useState(tried?.reset ?? false);
  const [author, setAuthor] = useLocalStorage({ key: "headrace-author", defaultValue: "" });
  const isUnsaved = saveState === "conflict" || saveState === "offline" || saveState === "refused";
  return (
    <Stack gap="sm">
      <Problems />
      <ChangeList changes={told.changes} from={told.changesFrom} />
      <TextInput
        data-autofocus
        label="Note"
        placeholder="What this version does"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <TextInput label="Author" value={author} onChange={(event) => setAuthor(event.currentTarget.value)} />
      <Checkbox
        size="xs"
        label="Forget state and offsets: begin at the sources' start"
        checked={reset}
        onChange={(event) => setReset(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          leftSection={<IconRocket size={14} aria-hidden />}
          loading={isBusy}
          disabled={told.problems.length > 0 || isUnsaved}
          onClick={() => onDeploy({ note, author, reset })}
        >
          Deploy
        </Button>
      </Group>
    </Stack>
  );
}

function Problems() {
  const problems = useDocument((state) => state.told.problems);
  if (problems.length === 0) return null;
  return (
    <Alert color="red" variant="light" title={`${plural(problems.length, "problem")} must be mended first`}>
      {problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ node, message }) => (
        <Text size="sm" key={`${node} ${message}`}>
          {node ? `${node}: ` : ""}
          {firstLine(message)}
        </Text>
      ))}
    </Alert>
  );
}
