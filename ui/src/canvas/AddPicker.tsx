import { fitting } from "@/document/wiring";
import { addOperator } from "@/editor/editing";
import { Picker } from "@/shared/Picker";
import { type Adding, show, useUi } from "@/stores/uiStore";
import { focusNode } from "./focus";
import { KindIcon } from "./KindIcon";
import { useCatalogue } from "./useCatalogue";

const TITLES = {
  output: "Add what reads it",
  input: "Add what feeds it",
  edge: "Insert on the connection",
} as const;

function titleOf({ replaces, end }: Adding): string {
  if (replaces !== undefined) return `Replace ${replaces} by`;
  return end === null ? "Add a node" : TITLES[end];
}

/** Chooses an operator for a new node, for the open end of a wire, or in the place of another. */
export function AddPicker() {
  const adding = useUi((state) => state.adding);
  const { operators, catalogue } = useCatalogue();
  if (adding === null) return null;
  const close = () => show({ adding: null });
  return (
    <Picker
      title={titleOf(adding)}
      empty="No operator fits here."
      choices={fitting(operators, adding.end).map(({ name, title, summary, kind }) => ({
        id: name,
        title,
        detail: summary,
        icon: <KindIcon kind={kind} />,
      }))}
      onClose={close}
      onPick={(name) => {
        const operator = catalogue.get(name);
        close();
        if (operator) addOperator(adding, operator, catalogue);
        const [added] = useUi.getState().nodes;
        if (added !== undefined) focusNode(added);
      }}
    />
  );
}
