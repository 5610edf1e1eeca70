import { Code, List, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Operator, Port } from "@/api/types";
import { useDocument } from "@/stores/documentStore";
import { SchemaTable } from "./SchemaTable";

/** The operator's own documentation, and the columns that leave this node. */
export function NodeAbout({ id, operator }: { id: string; operator: Operator }) {
  const schema = useDocument((state) => state.told.schemas[id]);
  return (
    <Stack gap="md">
      <Section title="What it does">
        <Text size="sm">{operator.summary}</Text>
      </Section>
      <Section title="Guarantees">
        <Text size="sm">{operator.guarantees}</Text>
      </Section>
      <Ports title="Inputs" ports={operator.inputs} />
      <Ports title="Outputs" ports={operator.outputs} />
      <Section title="Columns that leave it">
        {schema ? (
          <SchemaTable columns={schema.columns} />
        ) : (
          <Text size="sm">Known when its settings are right.</Text>
        )}
      </Section>
      <Section title="Example">
        <Code block style={{ whiteSpace: "pre-wrap" }}>
          {operator.example}
        </Code>
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Text size="xs" fw={600} c="dimmed" mb={4} component="h3">
        {title}
      </Text>
      {children}
    </section>
  );
}

function Ports({ title, ports }: { title: string; ports: readonly Port[] }) {
  if (ports.length === 0) return null;
  return (
    <Section title={title}>
      <List size="sm" spacing={2}>
        {ports.map(({ name, summary }) => (
          <List.Item key={name}>
            <Code>{name}</Code> {summary}
          </List.Item>
        ))}
      </List>
    </Section>
  );
}
