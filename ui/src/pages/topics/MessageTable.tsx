import { VisuallyHidden } from "@mantine/core";
import table from "../common/table.module.css";
import { MessageRow } from "./MessageRow";
import type { Message } from "./types";

export function MessageTable({ messages }: { messages: Message[] }) {
  return (
    <table className={table.table}>
      <thead>
        <tr>
          <th className={table.fit}>
            <VisuallyHidden>Open</VisuallyHidden>
          </th>
          <th className={table.number}>Partition</th>
          <th className={table.number}>Offset</th>
          <th>Time</th>
          <th>Key</th>
          <th>Value</th>
        </tr>
      </thead>
      <tbody>
        {messages.map((message) => (
          <MessageRow key={`${message.partition} ${message.offset}`} message={message} />
        ))}
      </tbody>
    </table>
  );
}
