import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { ApiProblem } from "@/api/problem";
import { ErrorState } from "@/shared/ErrorState";
import { useCreatePipeline } from "./create";
import classes from "./FromSql.module.css";
import { freeName, nameProblem } from "./names";

interface FromSqlProps {
  isOpen: boolean;
  taken: ReadonlySet<string>;
  onClose: () => void;
}

const EXAMPLE = `CREATE STREAM readings (
  sensor STRING, temperature DOUBLE, ts TIMESTAMP
) WITH (topic = 'readings', format = 'json');

CREATE STREAM warm AS
  SELECT sensor, temperature FROM readings
  WHERE temperature > 30;
`;

/** SQL becomes a canvas. It is read by the server when it is opened: what it refuses is shown with its place. */
export function FromSql({ isOpen, taken, onClose }: FromSqlProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="A pipeline from SQL" size="lg" centered>
      {isOpen && <Form taken={taken} onClose={onClose} />}
    </Modal>
  );
}

function Form({ taken, onClose }: Omit<FromSqlProps, "isOpen">) {
  const [name, setName] = useState(() => freeName("from-sql", taken));
  const [sql, setSql] = useState(EXAMPLE);
  const create = useCreatePipeline();
  const problem = nameProblem(name, taken);
  const place = create.error instanceof ApiProblem ? create.error.details.place : null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name && !problem) create.mutate({ name, from: { kind: "sql", sql } });
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          value={name}
          error={problem}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
        />
        <Textarea
          data-autofocus
          label="SQL"
          value={sql}
          onChange={(event) => setSql(event.currentTarget.value)}
          autosize
          minRows={10}
          maxRows={20}
          spellCheck={false}
          classNames={{ input: classes.code ?? "" }}
        />
        {create.error && <ErrorState title="This SQL cannot be read" error={create.error} />}
        {place && <pre className={classes.place}>{place.marked}</pre>}
        <Group justify="space-between" gap="sm">
          <Text size="xs" c="dimmed">
            The canvas and the SQL stay two views of one pipeline.
          </Text>
          <Group gap="sm">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!name || problem !== null} loading={create.isPending}>
              Open the canvas
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
