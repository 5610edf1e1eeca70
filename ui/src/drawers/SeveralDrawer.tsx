import { Button, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ALIGNMENTS, type Alignment } from "@/document/align";
import { copySelected, duplicateSelected } from "@/editor/clipboard";
import { align, deleteAndReconnect, deleteSelected } from "@/editor/editing";
import { selectNothing } from "@/stores/uiStore";
import { Drawer } from "./Drawer";

/** What can be done with several nodes at once. */
export function SeveralDrawer({ ids }: { ids: readonly string[] }) {
  return (
    <Drawer title={`${ids.length} nodes`} subtitle={ids.join(", ")} onClose={selectNothing}>
      <Stack p="md" gap="md">
        <Section title="Align">
          {Object.entries(ALIGNMENTS).map(([alignment, title]) => (
            <Button key={alignment} variant="default" px={8} onClick={() => align(alignment as Alignment)}>
              {title}
            </Button>
          ))}
        </Section>
        <Section title="Edit">
          <Button variant="default" onClick={() => void copySelected()}>
            Copy as text
          </Button>
          <Button variant="default" onClick={duplicateSelected}>
            Duplicate
          </Button>
          <Button variant="default" px={8} onClick={deleteAndReconnect}>
            Delete and reconnect
          </Button>
          <Button variant="default" color="red" onClick={deleteSelected}>
            Delete
          </Button>
        </Section>
      </Stack>
    </Drawer>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Text size="xs" fw={600} c="dimmed" mb={4} component="h3">
        {title}
      </Text>
      <SimpleGrid cols={2} spacing={8}>
        {children}
      </SimpleGrid>
    </section>
  );
}
