import { python } from "@codemirror/lang-python";
import { StandardSQL, sql } from "@codemirror/lang-sql";
import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

export type Language = "sql" | "text" | "python";

/** Text notation: `operator words setting=value ! operator … as name`. */
const textNotation = StreamLanguage.define<{ isStart: boolean }>({
  startState: () => ({ isStart: true }),
  token(stream, state) {
    if (stream.sol()) state.isStart = true;
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.eat("!")) {
      state.isStart = true;
      return "operator";
    }
    if (stream.match(/^@[\w.-]+/)) return "variableName";
    if (stream.match(/^\w+(?==)/)) return "propertyName";
    if (stream.match(/^\d[\w.]*/)) return "number";
    if (stream.match(/^[\w-]+/)) {
      const isOperator = state.isStart;
      state.isStart = false;
      return isOperator || stream.current() === "as" ? "keyword" : null;
    }
    stream.next();
    return null;
  },
});

export function languageOf(language: Language): Extension {
  if (language === "sql") return sql({ dialect: StandardSQL, upperCaseKeywords: true });
  return language === "python" ? python() : textNotation;
}
