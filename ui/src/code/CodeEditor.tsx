import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder as placeholderText } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { columnSource } from "./completion";
import { diagnosticsIn, type Mark } from "./diagnostics";
import { type Language, languageOf } from "./languages";
import { editorTheme, highlighting } from "./theme";

export interface CodeEditorProps {
  value: string;
  language: Language;
  label: string;
  onChange?: (value: string) => void;
  isReadOnly?: boolean;
  /** One line: Enter and Tab leave it alone, as in any field of a form. */
  isField?: boolean;
  placeholder?: string;
  marks?: readonly Mark[];
  columns?: readonly string[];
  /** Takes the focus when it is first shown. */
  takesFocus?: boolean;
}

/** Ctrl+Enter deploys, wherever the focus is. */
const EDITING_KEYS = defaultKeymap.filter(({ key }) => key !== "Mod-Enter");
const NO_MARKS: readonly Mark[] = [];
const NO_COLUMNS: readonly string[] = [];

/** CodeMirror as a controlled component. */
export default function CodeEditor({
  value,
  language,
  label,
  onChange,
  isReadOnly = false,
  isField = false,
  placeholder = "",
  marks = NO_MARKS,
  columns = NO_COLUMNS,
  takesFocus = false,
}: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  const known = useRef(columns);
  const wantsFocus = useRef(takesFocus);
  changed.current = onChange;
  known.current = columns;

  useEffect(() => {
    if (!place.current) return;
    const listener = EditorView.updateListener.of((update) => {
      if (update.docChanged) changed.current?.(update.state.doc.toString());
    });
    const extensions = [
      isField ? fieldExtensions() : pageExtensions(),
      languageOf(language),
      autocompletion({ override: [columnSource(() => known.current)], activateOnTyping: true }),
      EditorView.contentAttributes.of({ "aria-label": label }),
      EditorState.readOnly.of(isReadOnly),
      EditorView.editable.of(!isReadOnly),
      placeholderText(placeholder),
      listener,
    ];
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: "", extensions }),
    });
    view.current = made;
    if (wantsFocus.current) made.focus();
    wantsFocus.current = false;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, [language, label, isReadOnly, isField, placeholder]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a view that was made anew must be filled anew
  useEffect(() => {
    const editor = view.current;
    const now = editor?.state.doc.toString();
    if (editor && now !== value)
      editor.dispatch({ changes: { from: 0, to: now?.length ?? 0, insert: value } });
  }, [value, language, label, isReadOnly, isField, placeholder]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnosticsIn(editor.state.doc, marks)));
  }, [marks]);

  return <div ref={place} className="hr-code" data-field={isField || undefined} />;
}

function pageExtensions(): Extension {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    search(),
    closeBrackets(),
    bracketMatching(),
    syntaxHighlighting(highlighting),
    editorTheme,
    EditorView.lineWrapping,
    keymap.of([
      ...closeBracketsKeymap,
      ...EDITING_KEYS,
      ...historyKeymap,
      ...searchKeymap,
      ...completionKeymap,
    ]),
  ];
}

function fieldExtensions(): Extension {
  const isOneLine = EditorState.transactionFilter.of((transaction) =>
    transaction.docChanged && transaction.newDoc.lines > 1 ? [] : transaction,
  );
  return [
    isOneLine,
    history(),
    closeBrackets(),
    syntaxHighlighting(highlighting),
    editorTheme,
    EditorView.lineWrapping,
    keymap.of([...completionKeymap, ...closeBracketsKeymap, ...historyKeymap, ...EDITING_KEYS]),
  ];
}
