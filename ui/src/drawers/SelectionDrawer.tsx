import { useShallow } from "zustand/react/shallow";
import { edgeKey } from "@/document/graph";
import { useDocument } from "@/stores/documentStore";
import { useUi } from "@/stores/uiStore";
import { EdgeDrawer } from "./EdgeDrawer";
import { NodeDrawer } from "./NodeDrawer";
import classes from "./SelectionDrawer.module.css";
import { SeveralDrawer } from "./SeveralDrawer";

/** The panel that belongs to what is selected; nothing when nothing is, or when undo took it away. */
export function SelectionDrawer() {
  const selected = useUi((state) => state.nodes);
  const nodes = useDocument(
    useShallow((state) => [...selected].filter((id) => id in state.history.present.nodes)),
  );
  const key = useUi((state) => state.edge);
  const edge = useDocument((state) => state.history.present.edges.find((one) => edgeKey(one) === key));
  const [first] = nodes;
  const content =
    nodes.length > 1 ? (
      <SeveralDrawer ids={nodes} />
    ) : first !== undefined ? (
      <NodeDrawer id={first} />
    ) : (
      edge && <EdgeDrawer edge={edge} />
    );
  return content ? <div className={classes.place}>{content}</div> : null;
}
