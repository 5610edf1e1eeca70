import { Alert, ScrollArea, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { Kind, Operator } from "@/api/types";
import { addOperator, selectedNode } from "@/editor/editing";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { presentGraph } from "@/stores/documentStore";
import { DRAGGED_OPERATOR } from "./dragging";
import { KIND_TITLES, KindIcon } from "./KindIcon";
import { matches } from "./matching";
import classes from "./Palette.module.css";
import { useCatalogue } from "./useCatalogue";

const KINDS: Kind[] = ["source", "relational", "serial", "sink"];

/** All operators, to search, to drag onto the canvas or to add with Enter. */
export function Palette() {
  const { operators, problems, catalogue, isPending, error, refetch } = useCatalogue();
  const [query, setQuery] = useState("");
  const found = useMemo(() => operators.filter((operator) => matches(operator, query)), [operators, query]);

  const add = (operator: Operator) => {
    const from = selectedNode();
    const output = from && catalogue.get(presentGraph().nodes[from]?.operator ?? "")?.outputs[0];
    const wired = from && output && operator.inputs.length > 0;
    addOperator(
      wired
        ? { end: "output", position: null, from: { node: from, port: output.name } }
        : { end: null, position: null },
      operator,
      catalogue,
    );
  };

  return (
    <section className={classes.palette} aria-label="Palette">
      <TextInput
        placeholder="Search operators"
        aria-label="Search operators"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key === "Enter" && first) add(first);
        }}
      />
      <ScrollArea className={classes.list} type="auto" scrollbarSize={6}>
        {isPending && <Loading what="operators" />}
        {error && (
          <ErrorState title="The operators could not be read" error={error} onRetry={() => void refetch()} />
        )}
        {problems.map((problem) => (
          <Alert key={problem} color="red" variant="light" p="xs" m="xs" title="A plugin cannot be loaded">
            <Text size="xs">{problem}</Text>
          </Alert>
        ))}
        {KINDS.map((kind) => (
          <Group
            key={kind}
            kind={kind}
            operators={found.filter((operator) => operator.kind === kind)}
            onAdd={add}
          />
        ))}
        {!isPending && !error && found.length === 0 && (
          <Text size="xs" c="dimmed" p="sm">
            No operator matches “{query}”.
          </Text>
        )}
      </ScrollArea>
    </section>
  );
}

interface GroupProps {
  kind: Kind;
  operators: readonly Operator[];
  onAdd: (operator: Operator) => void;
}

function Group({ kind, operators, onAdd }: GroupProps) {
  if (operators.length === 0) return null;
  return (
    <section aria-label={KIND_TITLES[kind]}>
      <Text className={classes.kind}>{KIND_TITLES[kind]}</Text>
      {operators.map((operator) => (
        <UnstyledButton
          key={operator.name}
          className={classes.entry}
          draggable
          title={operator.summary}
          onClick={() => onAdd(operator)}
          onDragStart={(event) => {
            event.dataTransfer.setData(DRAGGED_OPERATOR, operator.name);
            event.dataTransfer.effectAllowed = "copy";
          }}
        >
          <KindIcon kind={operator.kind} />
          <span className={classes.title}>{operator.title}</span>
        </UnstyledButton>
      ))}
    </section>
  );
}
