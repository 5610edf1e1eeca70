import { Group } from "@mantine/core";
import { Page } from "../common/Page";
import { GroupTable } from "./GroupTable";
import { ViewSwitch } from "./ViewSwitch";

export function GroupsPage({ onView }: { onView: (view: string | null) => void }) {
  return (
    <Page title="Consumer groups">
      <Group gap="md" mb="md">
        <ViewSwitch view="groups" onView={onView} />
      </Group>
      <GroupTable topic={null} />
    </Page>
  );
}
