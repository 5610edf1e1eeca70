import { Alert, Button, Group, Text, TextInput } from "@mantine/core";
import { IconGitMerge } from "@tabler/icons-react";
import { useState } from "react";
import { messageOf } from "@/api/problem";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { useDocument } from "@/stores/documentStore";
import { keepMineAs, takeTheirs } from "./draftSync";

/** Somebody else saved the draft meanwhile: nothing is overwritten until one of the two is chosen. */
export function ConflictBanner() {
  const theirs = useDocument((state) => state.theirs);
  const pipeline = useDocument((state) => state.pipeline);
  const [copy, setCopy] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  if (theirs === null) return null;
  const name = copy ?? `${pipeline}-copy`;
  const keep = async () => {
    try {
      await keepMineAs(name);
      navigate(paths.pipeline(name));
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <Alert
      color="orange"
      variant="light"
      radius={0}
      p="sm"
      icon={<IconGitMerge size={18} aria-hidden />}
      title="This draft was changed elsewhere"
      role="alert"
    >
      <Group gap="sm" align="center">
        <Text size="sm">Your edits are kept here and not saved. Nothing was overwritten.</Text>
        <Button variant="default" onClick={takeTheirs}>
          Take theirs
        </Button>
        <TextInput
          aria-label="Name of the copy"
          value={name}
          error={failure}
          onChange={(event) => setCopy(event.currentTarget.value)}
        />
        <Button onClick={() => void keep()}>Keep mine as a copy</Button>
      </Group>
    </Alert>
  );
}
