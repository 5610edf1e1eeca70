import { Skeleton } from "@mantine/core";
import { lazy, Suspense } from "react";
import "./code.css";
import type { CodeEditorProps } from "./CodeEditor";

const CodeEditor = lazy(() => import("./CodeEditor"));

/** The code editor, loaded when the first one is shown. */
export function LazyCode(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton h={props.isField ? 30 : "100%"} radius="sm" />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
