import { Code, ScrollArea, Stack, Text } from "@mantine/core";
import type { Change, DraftView } from "@/api/types";

const AGAINST = {
  running: "Against the version that runs",
  latest: "Against the latest version",
  nothing: "The first version",
} as const;

const colorOf = (text: string): string => {
  if (text.startsWith("+")) return "var(--hr-good)";
  return text.startsWith("-") ? "var(--hr-bad)" : "var(--hr-warn)";
};

/** A semantic diff, one line for each change. */
export function ChangeList({
  changes,
  from,
}: {
  changes: readonly Change[];
  from: DraftView["changes_from"];
}) {
  if (changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing changed in meaning: the draft is what{" "}
        {from === "running" ? "runs" : "the latest version says"}.
      </Text>
    );
  }
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {AGAINST[from]}: {changes.length} {changes.length === 1 ? "change" : "changes"}
      </Text>
      <ScrollArea.Autosize mah={240} type="auto" viewportProps={{ tabIndex: 0 }}>
        <Code
          block
          style={{ background: "var(--hr-sunken)", whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
        >
          {changes.map(({ text }) => (
            <div key={text} style={{ color: colorOf(text) }}>
              {text}
            </div>
          ))}
        </Code>
      </ScrollArea.Autosize>
    </Stack>
  );
}
