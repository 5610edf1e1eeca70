import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useMemo } from "react";
import { focusNode } from "@/canvas/focus";
import { KindIcon } from "@/canvas/KindIcon";
import { useCatalogue } from "@/canvas/useCatalogue";
import { useDocument } from "@/stores/documentStore";
import { selectNodes, show } from "@/stores/uiStore";
import type { EditorCommand } from "./commands";
import { addOperator } from "./editing";
import { Keys } from "./KeysDialog";

const [store, spotlight] = createSpotlight();
export const openCommandPalette = (): void => spotlight.open();

const RESULTS_MAX = 12;

/** ⌘K: every command, every operator to add, every node to go to. */
export function CommandPalette({ commands }: { commands: readonly EditorCommand[] }) {
  const { operators, catalogue } = useCatalogue();
  const nodes = useDocument((state) => state.history.present.nodes);
  const actions = useMemo<SpotlightActionData[]>(
    () => [
      ...commands
        .filter((command) => !command.isHidden)
        .map(({ id, title, keys, run }) => ({
          id: `command ${id}`,
          label: title,
          onClick: run,
          rightSection: <Keys keys={keys} />,
        })),
      ...operators.map((operator) => ({
        id: `operator ${operator.name}`,
        label: `Add ${operator.title}`,
        description: operator.summary,
        leftSection: <KindIcon kind={operator.kind} />,
        onClick: () => addOperator({ end: null, position: null }, operator, catalogue),
      })),
      ...Object.keys(nodes).map((id) => ({
        id: `node ${id}`,
        label: `Go to ${id}`,
        onClick: () => {
          show({ tab: "canvas" });
          selectNodes([id]);
          focusNode(id);
        },
      })),
    ],
    [commands, operators, catalogue, nodes],
  );
  return (
    <Spotlight
      attributes={{ content: { "aria-label": "Commands" } }}
      store={store}
      actions={actions}
      shortcut={null}
      limit={RESULTS_MAX}
      highlightQuery
      nothingFound="No such command"
      searchProps={{
        placeholder: "Command, operator or node",
        "aria-label": "Command, operator or node",
        leftSection: <IconSearch size={16} aria-hidden />,
      }}
    />
  );
}
