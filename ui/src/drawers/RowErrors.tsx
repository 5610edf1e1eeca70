import { Alert, Anchor, Code, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { readErrors } from "@/api/pipelines";
import { paths } from "@/app/paths";
import { plural } from "@/shared/format";
import { useDocument } from "@/stores/documentStore";
import { placeOf } from "./recordPlace";
import { WaysOut } from "./WaysOut";

interface RowErrorsProps {
  node: string;
  count: number;
}

/** The newest rows that the node failed for or could not read: where each was, and why; and what can be done. */
export function RowErrors({ node, count }: RowErrorsProps) {
  const pipeline = useDocument((state) => state.pipeline);
  const found = useQuery({
    queryKey: ["errors", pipeline, node, count],
    queryFn: () => readErrors(pipeline, node),
  });
  const rows = [...(found.data?.rows ?? [])].reverse();
  return (
    <Alert color="orange" variant="light" title={`${plural(count, "bad row")} here`}>
      <WaysOut node={node} />
      {rows.length > 0 && (
        <Stack gap="xs" mt="sm" aria-label="Newest bad rows" component="section">
          {rows.map((row, number) => {
            const place = placeOf(row);
            return (
              // Rows have no name of their own: the newest comes first.
              // biome-ignore lint/suspicious/noArrayIndexKey: the list is replaced as a whole
              <div key={number}>
                <Text size="sm">
                  {place && (
                    <Anchor component={Link} href={paths.record(place.topic, place.partition, place.offset)}>
                      {place.topic}-{place.partition} at {place.offset}
                    </Anchor>
                  )}
                  {place ? ": " : ""}
                  {row.reason}
                </Text>
                {row.row && <Code block>{row.row}</Code>}
              </div>
            );
          })}
        </Stack>
      )}
    </Alert>
  );
}
