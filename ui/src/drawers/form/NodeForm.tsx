import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";
import { request } from "@/api/client";
import type { Operator, Problem, TopicList } from "@/api/types";
import type { Node } from "@/document/graph";
import { execute, useDocument } from "@/stores/documentStore";
import { type Field, fieldsOf } from "./fields";
import { RenameField } from "./RenameField";
import { SettingField } from "./SettingField";

const NONE: readonly string[] = [];

/** Columns that come into the node, by any of its inputs. */
function useInputColumns(id: string): readonly string[] {
  return useDocument(
    useShallow((state) => {
      const sources = state.history.present.edges
        .filter((edge) => edge.target === id)
        .map((edge) => edge.source);
      const columns = sources.flatMap(
        (source) => state.told.schemas[source]?.columns.map(({ name }) => name) ?? [],
      );
      return [...new Set(columns)];
    }),
  );
}

function useTopics(): readonly string[] {
  const { data } = useQuery({
    queryKey: ["topics"],
    queryFn: () => request<TopicList>("GET", "/api/topics"),
  });
  return useMemo(
    () => data?.topics.filter((topic) => !topic.is_internal).map(({ name }) => name) ?? NONE,
    [data],
  );
}

/** A hint that stands beside the field already is not said twice. */
const said = ({ message, hint }: Problem, help = ""): string =>
  hint && hint !== help ? `${message.trimEnd()}\n${hint}` : message.trimEnd();

/** The form of a node, made from its operator's schema. Every key stroke is validated with the draft. */
export function NodeForm({
  node,
  operator,
  problems,
}: {
  node: Node;
  operator: Operator;
  problems: readonly Problem[];
}) {
  const columns = useInputColumns(node.id);
  const topics = useTopics();
  const fields = useMemo(() => fieldsOf(operator), [operator]);
  const errorOf = ({ name, help }: Field) => {
    const found = problems.filter(({ setting }) => setting === name || setting?.startsWith(`${name}.`));
    return found.length > 0 ? found.map((problem) => said(problem, help)).join("\n") : null;
  };
  const others = problems.filter(
    ({ setting }) => !fields.some(({ name }) => setting?.split(".")[0] === name),
  );
  return (
    <Stack gap="md">
      <RenameField key={node.id} id={node.id} />
      {others.map((problem) => (
        <Text
          key={problem.message}
          size="xs"
          role="alert"
          ff="monospace"
          style={{ color: "var(--hr-bad)", whiteSpace: "pre-wrap" }}
        >
          {said(problem)}
        </Text>
      ))}
      {fields.map((field) => (
        <SettingField
          key={`${node.id} ${field.name}`}
          field={field}
          value={node.config[field.name]}
          error={errorOf(field)}
          columns={columns}
          topics={topics}
          onChange={(value) => execute({ kind: "set", id: node.id, setting: field.name, value })}
        />
      ))}
      {fields.length === 0 && (
        <Text size="sm" c="dimmed">
          This operator has no settings.
        </Text>
      )}
    </Stack>
  );
}
