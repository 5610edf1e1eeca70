import { TextInput } from "@mantine/core";
import { useState } from "react";
import { NODE_ID } from "@/document/graph";
import { execute, presentGraph } from "@/stores/documentStore";
import { selectNodes } from "@/stores/uiStore";

function faultOf(id: string, name: string): string | null {
  if (name === id) return null;
  if (!NODE_ID.test(name)) return "A letter or _, then letters, digits, _ and -, at most 63 in all";
  return name in presentGraph().nodes ? "Another node has this name" : null;
}

/** The node's name; taken over with Enter or when the field is left. */
export function RenameField({ id }: { id: string }) {
  const [name, setName] = useState(id);
  const fault = faultOf(id, name);
  const commit = () => {
    if (fault !== null || name === id) return;
    if (execute({ kind: "rename", id, to: name })) selectNodes([name]);
  };
  return (
    <TextInput
      label="Name"
      value={name}
      error={fault}
      description="State belongs to this name: a renamed node begins without it."
      inputWrapperOrder={["label", "input", "description", "error"]}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}
