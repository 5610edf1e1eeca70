import { Alert, Button, CopyButton, Group, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { EmptyState } from "@/shared/EmptyState";
import { useDocument } from "@/stores/documentStore";
import { LazyCode } from "./LazyCode";
import type { Language } from "./languages";
import classes from "./NotationTab.module.css";
import { useNotation } from "./useNotation";

const TITLES: Readonly<Record<Language, string>> = { sql: "SQL", text: "Text", python: "Python" };

/** The same pipeline as SQL, text or Python. SQL and text can be written; the canvas follows. */
export function NotationTab({ language }: { language: Language }) {
  const { text, write, giveUp, marks, failure, isAhead } = useNotation(language);
  const reason = useDocument((state) => state.told.notations.reasons[language]);
  const isReadOnly = language === "python";
  if (text === null) {
    return (
      <EmptyState title={`This pipeline cannot be written as ${TITLES[language]}`}>
        {reason ?? "Mend its problems first, or use another notation."}
      </EmptyState>
    );
  }
  return (
    <section className={classes.tab} aria-label={TITLES[language]}>
      <Group className={classes.bar} justify="space-between">
        <Text size="xs" c="dimmed" role="status">
          {isReadOnly && "To read and copy: the same pipeline through the Python builder."}
          {!isReadOnly &&
            (failure
              ? "Kept with the draft, not on the canvas: it has an error."
              : isAhead
                ? "Written here, not on the canvas yet."
                : "Edits here change the canvas at once.")}
        </Text>
        {failure && (
          <Button variant="subtle" ml="auto" onClick={giveUp}>
            Discard this text
          </Button>
        )}
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              variant="subtle"
              onClick={copy}
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            >
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
      <div className={classes.code}>
        <LazyCode
          value={text}
          language={language}
          label={`Pipeline as ${TITLES[language]}`}
          isReadOnly={isReadOnly}
          onChange={write}
          marks={marks}
        />
      </div>
      {failure && (
        <Alert color="red" variant="light" radius={0} p="sm" role="alert">
          <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
            {failure}
          </Text>
        </Alert>
      )}
    </section>
  );
}
