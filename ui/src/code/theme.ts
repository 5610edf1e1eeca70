import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colours come from the page's variables, so one theme serves light and dark. */
export const editorTheme = EditorView.theme({
  "&": { color: "var(--hr-text)", backgroundColor: "transparent", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--mantine-font-family-monospace)", caretColor: "var(--hr-text)" },
  ".cm-cursor": { borderLeftColor: "var(--hr-text)" },
  ".cm-gutters": { backgroundColor: "var(--hr-sunken)", color: "var(--hr-text-soft)", border: "none" },
  ".cm-placeholder": { color: "var(--hr-text-soft)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--hr-accent-soft)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--hr-raised)",
    border: "1px solid var(--hr-line)",
    color: "var(--hr-text)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--hr-accent-soft)",
    color: "var(--hr-text)",
  },
  ".cm-panels": { backgroundColor: "var(--hr-raised)", color: "var(--hr-text)" },
});

export const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--hr-relational)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--hr-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--hr-warn)" },
  {
    tag: [tags.comment, tags.lineComment, tags.blockComment],
    color: "var(--hr-text-soft)",
    fontStyle: "italic",
  },
  { tag: [tags.propertyName, tags.typeName], color: "var(--hr-accent)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], color: "var(--hr-accent)" },
  { tag: tags.operator, color: "var(--hr-text-soft)" },
]);
