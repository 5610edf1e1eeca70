import { Button, CopyButton, Group, Select, Stack, Tabs, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconCopy, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { LazyCode } from "@/code/LazyCode";
import { type Edge, edgeKey } from "@/document/graph";
import { edgeLabel } from "@/live/figures";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";
import { selectNothing } from "@/stores/uiStore";
import { Drawer } from "./Drawer";
import { RowTable } from "./RowTable";
import { SchemaTable } from "./SchemaTable";
import { useSample } from "./useSample";

const LIMITS = ["20", "50", "100", "200"];
const FILTER_DELAY_MS = 500;

/** What flows on one connection: the newest events, its columns and its figures. */
export function EdgeDrawer({ edge }: { edge: Edge }) {
  const pipeline = useDocument((state) => state.pipeline);
  const schema = useDocument((state) => state.told.schemas[edge.source]);
  const figures = useMetrics((state) => state.jobs[pipeline]?.edges.get(edgeKey(edge)));
  return (
    <Drawer
      title={`${edge.source} → ${edge.target}`}
      subtitle={figures ? edgeLabel(figures) : "Not running"}
      onClose={selectNothing}
    >
      <Tabs defaultValue="events" keepMounted={false}>
        <Tabs.List grow>
          <Tabs.Tab value="events">Last events</Tabs.Tab>
          <Tabs.Tab value="schema">Schema</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="events">
          <Events
            key={edgeKey(edge)}
            pipeline={pipeline}
            edge={edge}
            columns={schema?.columns.map(({ name }) => name) ?? []}
          />
        </Tabs.Panel>
        <Tabs.Panel value="schema" p="md">
          {schema ? (
            <SchemaTable columns={schema.columns} />
          ) : (
            <Text size="sm">Known when the settings above are right.</Text>
          )}
        </Tabs.Panel>
      </Tabs>
    </Drawer>
  );
}

function Events({ pipeline, edge, columns }: { pipeline: string; edge: Edge; columns: string[] }) {
  const [isFollowing, setFollowing] = useState(true);
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState("50");
  const [wanted] = useDebouncedValue(filter, FILTER_DELAY_MS);
  const { data, error, isPending, isFetching, refetch } = useSample(pipeline, edge, {
    filter: wanted,
    limit: Number(limit),
    isFollowing,
  });
  return (
    <Stack gap="sm" p="sm">
      <LazyCode
        isField
        language="sql"
        label="Filter"
        placeholder="Filter, such as battery < 20"
        value={filter}
        columns={columns}
        onChange={setFilter}
      />
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={
            isFollowing ? <IconPlayerPause size={14} aria-hidden /> : <IconPlayerPlay size={14} aria-hidden />
          }
          onClick={() => setFollowing(!isFollowing)}
        >
          {isFollowing ? "Pause" : "Follow"}
        </Button>
        <Select
          aria-label="How many"
          data={LIMITS}
          value={limit}
          onChange={(value) => setLimit(value ?? "50")}
          w={76}
        />
        <CopyButton value={JSON.stringify(data?.rows ?? [], null, 2)}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              disabled={!data}
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            >
              {copied ? "Copied" : "Copy JSON"}
            </Button>
          )}
        </CopyButton>
        <Text size="xs" c="dimmed" ml="auto" style={{ whiteSpace: "nowrap" }}>
          {data && !isFetching && `${data.took_ms} ms`}
          {isFetching && "reading…"}
        </Text>
      </Group>
      {isPending && !error && <Loading what="the newest events" />}
      {error && (
        <ErrorState title="The events could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {!error && data && data.rows.length === 0 && (
        <EmptyState title="No events">
          {wanted ? "None of the newest passes the filter." : "Nothing came through here yet."}
        </EmptyState>
      )}
      {!error && data?.begins_empty && (
        <Text size="xs" c="dimmed">
          Made anew from the newest records of the sources: windows and other state begin with them.
        </Text>
      )}
      {!error && data && data.rows.length > 0 && <RowTable columns={data.columns} rows={data.rows} />}
    </Stack>
  );
}
