import { ScrollArea, Table } from "@mantine/core";
import type { Column, Json } from "@/api/types";

const shown = (value: Json | undefined): string =>
  value === null || value === undefined
    ? "null"
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

interface RowTableProps {
  columns: readonly Column[];
  /** The newest last; shown the newest first. */
  rows: readonly Record<string, Json>[];
}

export function RowTable({ columns, rows }: RowTableProps) {
  return (
    <ScrollArea type="auto" scrollbarSize={8} viewportProps={{ tabIndex: 0 }}>
      <Table verticalSpacing={2} horizontalSpacing="xs" fz="xs" striped aria-label="Newest events">
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ name, type }) => (
              <Table.Th key={name} title={type} style={{ whiteSpace: "nowrap" }}>
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.toReversed().map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            <Table.Tr key={index}>
              {columns.map(({ name }) => (
                <Table.Td
                  key={name}
                  title={shown(row[name])}
                  style={{
                    whiteSpace: "nowrap",
                    maxWidth: 240,
                    overflow: "hidden",
                    textOverflow: "ellipsis",
                  }}
                >
                  {shown(row[name])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
