import { Text, Tooltip } from "@mantine/core";
import { type SaveState, useDocument, type WrittenLanguage } from "@/stores/documentStore";

const WORDS: Readonly<Record<SaveState, string>> = {
  loading: "Loading…",
  saved: "Draft saved",
  unsaved: "Editing…",
  saving: "Saving…",
  offline: "Not saved: server gone",
  refused: "Not saved",
  conflict: "Conflict",
};

const IS_BAD = new Set<SaveState>(["offline", "refused", "conflict"]);

const NAMES: Readonly<Record<WrittenLanguage, string>> = { sql: "SQL", text: "text" };

/** The notations with a text that cannot be read: "SQL and text". */
export function useUnread(): string | null {
  const texts = useDocument((document) => document.texts);
  const found = (Object.keys(texts) as WrittenLanguage[]).map((language) => NAMES[language]);
  return found.length > 0 ? found.join(" and ") : null;
}

/** Whether the draft on the server is what is seen here. */
export function SaveStatus() {
  const state = useDocument((document) => document.saveState);
  const refusal = useDocument((document) => document.refusal);
  const unread = useUnread();
  const isUnread = state === "saved" && unread !== null;
  const about = isUnread
    ? `The text in the ${unread} tab is kept. It has an error, so the canvas does not show it and a deploy does not run it.`
    : "Edits are saved to the draft. What runs changes only with a deploy.";
  return (
    <Tooltip label={refusal ?? about} multiline maw={320}>
      <Text
        size="xs"
        role="status"
        aria-label="Draft"
        style={{
          whiteSpace: "nowrap",
          color: isUnread || IS_BAD.has(state) ? "var(--hr-bad)" : "var(--hr-text-soft)",
        }}
      >
        {isUnread ? `Saved; ${unread} has an error` : WORDS[state]}
      </Text>
    </Tooltip>
  );
}
