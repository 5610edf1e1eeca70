import { SegmentedControl } from "@mantine/core";

interface ViewSwitchProps {
  view: "topics" | "groups" | "schemas";
  onView: (view: string | null) => void;
}

export function ViewSwitch({ view, onView }: ViewSwitchProps) {
  return (
    <SegmentedControl
      size="xs"
      aria-label="What is listed"
      value={view}
      onChange={onView}
      data={[
        { value: "topics", label: "Topics" },
        { value: "groups", label: "Consumer groups" },
        { value: "schemas", label: "Schemas" },
      ]}
    />
  );
}
