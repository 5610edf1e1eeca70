import { ActionIcon, Badge, Group, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { IconCheck, IconPencil, IconRestore, IconX } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "@/api/client";
import { EmptyState } from "@/shared/EmptyState";
import { notifyFailure } from "../common/notify";
import { Panel } from "../common/Panel";
import table from "../common/table.module.css";
import { inWords } from "./inWords";
import { topicKey, topicPath } from "./queries";
import type { TopicView } from "./types";

type Setting = TopicView["config"][number];

/** Retention and the like. A value of null puts a setting back to its default. */
export function TopicSettings({ topic }: { topic: TopicView }) {
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: (config: Record<string, string | null>) =>
      request("PATCH", topicPath(topic.name), { body: { config } }),
    onError: (error) => notifyFailure("The setting was not changed", error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(topic.name) }),
  });
  if (topic.config.length === 0) return <EmptyState title="This topic has no settings" />;
  return (
    <Panel title="Settings" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th>Setting</th>
            <th>Value</th>
            <th className={table.fit}>
              <VisuallyHidden>Change</VisuallyHidden>
            </th>
          </tr>
        </thead>
        <tbody>
          {topic.config.map((setting) => (
            <SettingRow
              key={setting.name}
              setting={setting}
              onChange={(value) => change.mutate({ [setting.name]: value })}
            />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

interface SettingRowProps {
  setting: Setting;
  onChange: (value: string | null) => void;
}

function SettingRow({ setting, onChange }: SettingRowProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { name, value, is_default: isDefault, is_read_only: isReadOnly } = setting;
  if (draft !== null) {
    const save = () => {
      onChange(draft);
      setDraft(null);
    };
    return (
      <tr>
        <td>{name}</td>
        <td>
          <TextInput
            autoFocus
            aria-label={name}
            value={draft}
            onChange={(event) => setDraft(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") save();
              if (event.key === "Escape") setDraft(null);
            }}
          />
        </td>
        <td className={table.fit}>
          <Group gap={4} wrap="nowrap">
            <ActionIcon variant="subtle" aria-label={`Save ${name}`} onClick={save}>
              <IconCheck size={16} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="subtle" color="gray" aria-label="Cancel" onClick={() => setDraft(null)}>
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        </td>
      </tr>
    );
  }
  return (
    <tr className={table.row}>
      <td>{name}</td>
      <td>
        <Group gap="sm">
          <Text size="sm" ff="monospace">
            {value ?? "–"}
          </Text>
          <Text size="sm" c="dimmed">
            {inWords(name, value)}
          </Text>
          {isDefault && (
            <Badge variant="default" size="sm">
              default
            </Badge>
          )}
        </Group>
      </td>
      <td className={table.fit}>
        {!isReadOnly && (
          <Group gap={4} wrap="nowrap" justify="flex-end">
            {!isDefault && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Put ${name} back to its default`}
                onClick={() => onChange(null)}
              >
                <IconRestore size={16} aria-hidden />
              </ActionIcon>
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Change ${name}`}
              onClick={() => setDraft(value ?? "")}
            >
              <IconPencil size={16} aria-hidden />
            </ActionIcon>
          </Group>
        )}
      </td>
    </tr>
  );
}
