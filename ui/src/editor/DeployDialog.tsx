import { Alert, Button, Checkbox, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconRocket } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deploy } from "@/api/pipelines";
import type { DraftView } from "@/api/types";
import { ErrorState } from "@/shared/ErrorState";
import { toldBy, useDocument } from "@/stores/documentStore";
import { show, useUi } from "@/stores/uiStore";
import { ChangeList } from "./ChangeList";
import { DeployProgress } from "./DeployProgress";
import { saveNow } from "./draftSync";
import { jobKey } from "./useJobState";

/** What will change, a note for the history, and go. The running version is stopped cleanly, then the new one starts. */
export function DeployDialog() {
  const isOpen = useUi((state) => state.dialog === "deploy");
  const { pipeline, told, saveState } = useDocument();
  const [note, setNote] = useState("");
  const [isReset, setReset] = useState(false);
  const [author, setAuthor] = useLocalStorage({ key: "headrace-author", defaultValue: "" });
  const queries = useQueryClient();
  const close = () => show({ dialog: null });

  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async () => {
      await saveNow();
      const { revision } = useDocument.getState().told;
      return deploy(pipeline, { expected_revision: revision, note, author, reset: isReset });
    },
    onSuccess: ({ version, draft }) => {
      noteDeployed(pipeline, draft);
      setNote("");
      close();
      notifications.show({ color: "teal", message: `Version ${version.number} is deployed` });
      void queries.invalidateQueries({ queryKey: jobKey(pipeline) });
      void queries.invalidateQueries({ queryKey: ["pipelines"] });
    },
  });

  const isUnsaved = saveState === "conflict" || saveState === "offline" || saveState === "refused";
  const isFaulty = told.problems.length > 0;
  return (
    <Modal
      opened={isOpen}
      onClose={() => {
        reset();
        close();
      }}
      title={`Deploy ${pipeline}`}
      size="lg"
    >
      <Stack gap="sm">
        {isFaulty && (
          <Alert color="red" variant="light" title={`${told.problems.length} problems must be mended first`}>
            {told.problems.slice(0, 5).map(({ node, message }) => (
              <Text size="sm" key={`${node} ${message}`}>
                {node ? `${node}: ` : ""}
                {message}
              </Text>
            ))}
          </Alert>
        )}
        <ChangeList changes={told.changes} from={told.changesFrom} />
        {isPending && <DeployProgress />}
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
          checked={isReset}
          onChange={(event) => setReset(event.currentTarget.checked)}
        />
        {error && <ErrorState title="Not deployed" error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            leftSection={<IconRocket size={14} aria-hidden />}
            loading={isPending}
            disabled={isFaulty || isUnsaved}
            onClick={() => mutate()}
          >
            {isPending ? "Deploying" : "Deploy"}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The draft that came back is the one that was deployed: the undo log stays. */
function noteDeployed(pipeline: string, draft: DraftView): void {
  if (useDocument.getState().pipeline === pipeline) useDocument.setState({ told: toldBy(draft) });
}
