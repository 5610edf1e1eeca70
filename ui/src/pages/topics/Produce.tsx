import { Button, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "@/api/client";
import { ErrorState } from "@/shared/ErrorState";
import { Panel } from "../common/Panel";
import { readHeaders } from "./headers";
import { topicKey, topicPath } from "./queries";
import type { Produced, TopicView } from "./types";

const ANY = "by key";

/** One message by hand. An empty key is no key; the value goes as it is typed. */
export function Produce({ topic }: { topic: TopicView }) {
  const queryClient = useQueryClient();
  const [key, setKey] = useState("");
  const [value, setValue] = useState('{"hello": "world"}');
  const [headers, setHeaders] = useState("");
  const [partition, setPartition] = useState<string>(ANY);
  const read = readHeaders(headers);
  const send = useMutation({
    mutationFn: () =>
      request<Produced>("POST", `${topicPath(topic.name)}/messages`, {
        body: {
          key: key || null,
          value,
          headers: read.headers,
          ...(partition === ANY ? {} : { partition: Number(partition) }),
        },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: topicKey(topic.name) }),
  });
  return (
    <Panel title="Produce a message">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (read.problem === null) send.mutate();
        }}
      >
        <Stack gap="md" p="md">
          <Group gap="md" align="flex-start" grow>
            <TextInput
              label="Key"
              placeholder="none"
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
            />
            <Select
              label="Partition"
              value={partition}
              onChange={(next) => setPartition(next ?? ANY)}
              data={[ANY, ...topic.partitions.map(({ id }) => `${id}`)]}
            />
          </Group>
          <Textarea
            label="Value"
            autosize
            minRows={4}
            maxRows={16}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Textarea
            label="Headers"
            description="One on each line, as name: value"
            autosize
            minRows={1}
            maxRows={6}
            error={read.problem}
            value={headers}
            onChange={(event) => setHeaders(event.currentTarget.value)}
          />
          {send.error && <ErrorState title="The message was not written" error={send.error} />}
          <Group gap="md">
            <Button type="submit" leftSection={<IconSend size={14} aria-hidden />} loading={send.isPending}>
              Send
            </Button>
            <Text size="sm" c="dimmed" role="status">
              {send.data && `Written at offset ${send.data.offset} of partition ${send.data.partition}`}
            </Text>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
