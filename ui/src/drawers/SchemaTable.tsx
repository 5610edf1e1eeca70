import { Code, Table } from "@mantine/core";
import type { Column } from "@/api/types";

export function SchemaTable({ columns }: { columns: readonly Column[] }) {
  return (
    <Table verticalSpacing={2} horizontalSpacing="xs" fz="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Column</Table.Th>
          <Table.Th>Type</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {columns.map(({ name, type }) => (
          <Table.Tr key={name}>
            <Table.Td style={{ wordBreak: "break-word" }}>{name}</Table.Td>
            <Table.Td>
              <Code>{type}</Code>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
