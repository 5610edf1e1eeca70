import { Tabs } from "@mantine/core";
import { KindIcon } from "@/canvas/KindIcon";
import { useNodeMarks } from "@/canvas/nodeMarks";
import { useCatalogue } from "@/canvas/useCatalogue";
import { ErrorState } from "@/shared/ErrorState";
import { useDocument } from "@/stores/documentStore";
import { type NodeTab, selectNothing, show, useUi } from "@/stores/uiStore";
import { Drawer } from "./Drawer";
import { EventTable } from "./EventTable";
import { NodeForm } from "./form/NodeForm";
import { NodeAbout } from "./NodeAbout";
import { NodeMetrics } from "./NodeMetrics";
import { NodeSignals } from "./NodeSignals";

/** Everything about one node: settings, figures, events, and what its operator guarantees. */
export function NodeDrawer({ id }: { id: string }) {
  const { catalogue } = useCatalogue();
  const node = useDocument((state) => state.history.present.nodes[id]);
  const tab = useUi((state) => state.nodeTab);
  const { problems } = useNodeMarks(id);
  if (!node) return null;
  const operator = catalogue.get(node.operator);
  return (
    <Drawer
      title={id}
      subtitle={operator ? `${operator.title}: ${operator.summary}` : node.operator}
      icon={operator && <KindIcon kind={operator.kind} size={20} />}
      onClose={selectNothing}
    >
      {!operator && (
        <ErrorState
          title="Unknown operator"
          error={new Error(`This server has no operator ${node.operator}`)}
        />
      )}
      {operator && (
        <Tabs
          value={tab}
          onChange={(value) => show({ nodeTab: (value ?? "settings") as NodeTab })}
          keepMounted={false}
        >
          <Tabs.List grow>
            <Tabs.Tab value="settings">Settings</Tabs.Tab>
            <Tabs.Tab value="metrics">Metrics</Tabs.Tab>
            <Tabs.Tab value="events">Events</Tabs.Tab>
            <Tabs.Tab value="about">About</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="settings" p="md">
            <NodeForm node={node} operator={operator} problems={problems} />
          </Tabs.Panel>
          <Tabs.Panel value="metrics" p="md">
            <NodeMetrics id={id} />
          </Tabs.Panel>
          <Tabs.Panel value="events">
            {operator.kind === "serial" && <NodeSignals id={id} />}
            <EventTable node={id} />
          </Tabs.Panel>
          <Tabs.Panel value="about" p="md">
            <NodeAbout id={id} operator={operator} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Drawer>
  );
}
