import { ActionIcon, CopyButton, Group, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useState } from "react";
import { bytes, moment } from "@/shared/format";
import { RowOpener } from "../common/RowOpener";
import table from "../common/table.module.css";
import { contentBlock, contentLine } from "./content";
import classes from "./MessageRow.module.css";
import type { Message } from "./types";

const COLUMNS = 6;

/** One line; opened, the whole message with its headers. */
export function MessageRow({ message }: { message: Message }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <tr className={table.row}>
        <RowOpener
          isOpen={isOpen}
          label={`Message ${message.offset} of partition ${message.partition}`}
          onToggle={() => setIsOpen(!isOpen)}
        />
        <td className={table.number}>{message.partition}</td>
        <td className={table.number}>{message.offset}</td>
        <td className={table.fit}>{moment(message.timestamp)}</td>
        <td className={classes.key}>{contentLine(message.key)}</td>
        <td className={classes.value}>
          {message.error ? (
            <span className={classes.error}>{message.error}</span>
          ) : (
            contentLine(message.value)
          )}
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={COLUMNS} className={classes.details}>
            <Details message={message} />
          </td>
        </tr>
      )}
    </>
  );
}

function Details({ message }: { message: Message }) {
  const value = contentBlock(message.value);
  return (
    <>
      <Group justify="space-between" mb={4}>
        <Text size="xs" c="dimmed">
          {message.value.encoding}, {bytes(message.size)}
        </Text>
        <CopyButton value={value}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? "Copied" : "Copy the value"}>
              <ActionIcon size="sm" variant="subtle" color="gray" aria-label="Copy the value" onClick={copy}>
                {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard */}
      <pre className={classes.block} tabIndex={0}>
        {value}
      </pre>
      {message.headers.length > 0 && (
        <dl className={classes.headers}>
          {message.headers.map(({ name, content }) => (
            <div key={`${name} ${contentLine(content)}`}>
              <dt>{name}</dt>
              <dd>{contentLine(content)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
