import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconRocket } from "@tabler/icons-react";
import { useState } from "react";
import { plural } from "@/shared/format";
import { firstLine } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { ChangeList } from "./ChangeList";
import { useUnread } from "./SaveStatus";
import { choiceOf, type StartChoice, StartChoices } from "./StartChoices";
import type { Wishes } from "./useDeployment";

const PROBLEMS_SHOWN_MAX = 5;

interface DeployFormProps {
  /** What was asked for the last time, where that did not succeed. */
  tried: Wishes | undefined;
  /** Why the server refused it then, as its code: it may need to know where queries begin, or a confirmation. */
  refusal: string | null;
  isBusy: boolean;
  onDeploy: (wishes: Wishes) => void;
  onCancel: () => void;
}

/** What will change, a note for the history, and go. */
export function DeployForm({ tried, refusal, isBusy, onDeploy, onCancel }: DeployFormProps) {
  const { told, saveState } = useDocument();
  const [note, setNote] = useState(tried?.note ?? "");
  const [choice, setChoice] = useState<StartChoice>(choiceOf(tried));
  const [author, setAuthor] = useLocalStorage({ key: "headrace-author", defaultValue: "" });
  const isUnsaved = saveState === "conflict" || saveState === "offline" || saveState === "refused";
  return (
    <Stack gap="sm">
      <Problems />
      <Unread />
      <ChangeList changes={told.changes} from={told.changesFrom} />
      <TextInput
        data-autofocus
        label="Note"
        placeholder="What this version does"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <TextInput label="Author" value={author} onChange={(event) => setAuthor(event.currentTarget.value)} />
      <StartChoices choice={choice} refusal={refusal} onChange={setChoice} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          leftSection={<IconRocket size={14} aria-hidden />}
          loading={isBusy}
          disabled={told.problems.length > 0 || isUnsaved}
          onClick={() => onDeploy({ note, author, ...choice })}
        >
          Deploy
        </Button>
      </Group>
    </Stack>
  );
}

/** A text with an error is no part of the draft that is deployed. */
function Unread() {
  const unread = useUnread();
  if (unread === null) return null;
  return (
    <Alert color="orange" variant="light" title={`The ${unread} tab holds a text with an error`}>
      <Text size="sm">It is not part of this deploy: what the canvas shows is deployed.</Text>
    </Alert>
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
