import { Text, Tooltip } from "@mantine/core";
import { type SaveState, useDocument } from "@/stores/documentStore";

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

/** Whether the draft on the server is what is seen here. */
export function SaveStatus() {
  const state = useDocument((document) => document.saveState);
  const refusal = useDocument((document) => document.refusal);
  return (
    <Tooltip label={refusal ?? "Edits are saved to the draft. What runs changes only with a deploy."}>
      <Text
        size="xs"
        role="status"
        aria-label="Draft"
        style={{ whiteSpace: "nowrap", color: IS_BAD.has(state) ? "var(--hr-bad)" : "var(--hr-text-soft)" }}
      >
        {WORDS[state]}
      </Text>
    </Tooltip>
  );
}
