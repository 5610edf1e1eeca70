import { Alert, SimpleGrid, Stack, Text } from "@mantine/core";
import { short } from "@/live/figures";
import { EmptyState } from "@/shared/EmptyState";
import { bytes } from "@/shared/format";
import { JobFailure } from "@/shared/JobFailure";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { RowErrors } from "./RowErrors";
import { WaysOut } from "./WaysOut";

/** Figures of one node since the pipeline was first started, and why the job failed if it did here. */
export function NodeMetrics({ id }: { id: string }) {
  const pipeline = useDocument((state) => state.pipeline);
  const figures = useMetrics((state) => state.jobs[pipeline]?.nodes[id]);
  const error = useMetrics((state) => state.jobs[pipeline]?.error);
  const failure = error?.node === id ? error : null;
  return (
    <Stack gap="md">
      {failure && (
        <Alert color="red" variant="light" title="The job failed here">
          <JobFailure error={failure} />
          <WaysOut node={id} record={failure.record} />
        </Alert>
      )}
      {figures ? (
        <SimpleGrid cols={2} spacing="sm" data-live>
          <Figure title="Rows per second" value={short(figures.rate)} />
          <Figure title="Rows in" value={figures.rows_in.toLocaleString()} />
          <Figure title="Rows out" value={figures.rows_out.toLocaleString()} />
          <Figure title="Bad rows" value={figures.rows_bad.toLocaleString()} isBad={figures.rows_bad > 0} />
          <Figure
            title="Late rows"
            value={figures.rows_late.toLocaleString()}
            isBad={figures.rows_late > 0}
          />
          {figures.state_bytes !== null && (
            <Figure title="State on disk" value={bytes(figures.state_bytes)} />
          )}
        </SimpleGrid>
      ) : (
        <EmptyState title="No figures">They appear here while the pipeline runs.</EmptyState>
      )}
      {!failure && figures && figures.rows_bad > 0 && <RowErrors node={id} count={figures.rows_bad} />}
    </Stack>
  );
}

function Figure({ title, value, isBad = false }: { title: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text
        size="lg"
        style={{ fontVariantNumeric: "tabular-nums", ...(isBad ? { color: "var(--hr-bad)" } : {}) }}
      >
        {value}
      </Text>
    </div>
  );
}
