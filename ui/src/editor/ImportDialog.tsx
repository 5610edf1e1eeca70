import { Button, FileButton, Group, Modal, SegmentedControl, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import { messageOf } from "@/api/problem";
import { execute } from "@/stores/documentStore";
import { show, useUi } from "@/stores/uiStore";
import { readNotation } from "./clipboard";
import { paste } from "./editing";

type Notation = "json" | "text" | "sql";

const NOTATIONS: { value: Notation; label: string }[] = [
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
  { value: "sql", label: "SQL" },
];

function guessed(text: string): Notation {
  if (text.trimStart().startsWith("{")) return "json";
  return /^\s*(create|insert|select|with|--)/i.test(text) ? "sql" : "text";
}

/** A pipeline from a file or a text, in the place of this one or beside it; either can be undone. */
export function ImportDialog() {
  const isOpen = useUi((state) => state.dialog === "import");
  const [text, setText] = useState("");
  const [notation, setNotation] = useState<Notation>("json");
  const [failure, setFailure] = useState<string | null>(null);

  const take = (written: string) => {
    setText(written);
    setNotation(guessed(written));
    setFailure(null);
  };
  const close = () => {
    show({ dialog: null });
    take("");
  };
  const read = async (isBeside: boolean) => {
    try {
      const graph = await readNotation(text, notation);
      if (isBeside) paste(graph, "import");
      else execute({ kind: "rewrite", graph, label: "import" });
      close();
    } catch (error) {
      setFailure(messageOf(error));
    }
  };

  return (
    <Modal opened={isOpen} onClose={close} title="Import a pipeline" size="lg">
      <Stack gap="sm">
        <Group justify="space-between">
          <SegmentedControl
            size="xs"
            data={NOTATIONS}
            value={notation}
            onChange={(value) => setNotation(value as Notation)}
            aria-label="Notation"
          />
          <FileButton onChange={(file) => void file?.text().then(take)} accept=".json,.txt,.sql">
            {(props) => (
              <Button variant="default" {...props}>
                Choose a file
              </Button>
            )}
          </FileButton>
        </Group>
        <Textarea
          data-autofocus
          aria-label="Pipeline"
          placeholder='topic telemetry schema="drone STRING" ! filter "battery < 20" ! preview'
          rows={12}
          value={text}
          error={failure}
          onChange={(event) => take(event.currentTarget.value)}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        <Group justify="flex-end">
          <Button variant="default" disabled={text.trim() === ""} onClick={() => void read(true)}>
            Add beside
          </Button>
          <Button disabled={text.trim() === ""} onClick={() => void read(false)}>
            Replace the pipeline
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
