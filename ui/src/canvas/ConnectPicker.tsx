import { edgeKey } from "@/document/graph";
import { targetsOf } from "@/document/wiring";
import { connect } from "@/editor/editing";
import { Picker } from "@/shared/Picker";
import { useDocument } from "@/stores/documentStore";
import { show, useUi } from "@/stores/uiStore";
import { focusNode } from "./focus";
import { useCatalogue } from "./useCatalogue";

/** Draws a wire without a mouse: only nodes that can be connected are offered. */
export function ConnectPicker() {
  const source = useUi((state) => state.connecting);
  const graph = useDocument((state) => state.history.present);
  const schemas = useDocument((state) => state.told.schemas);
  const { catalogue } = useCatalogue();
  if (source === null) return null;
  const edges = targetsOf({ graph, catalogue, schemas }, source);
  return (
    <Picker
      title={`Connect ${source} to`}
      empty="No node has a free input that these rows could go to."
      choices={edges.map((edge) => ({
        id: edgeKey(edge),
        title: edge.target,
        detail: `${catalogue.get(graph.nodes[edge.target]?.operator ?? "")?.title ?? ""}, input ${edge.target_port}`,
      }))}
      onClose={() => show({ connecting: null })}
      onPick={(key) => {
        const edge = edges.find((one) => edgeKey(one) === key);
        show({ connecting: null });
        if (edge) connect(edge);
        focusNode(source);
      }}
    />
  );
}
