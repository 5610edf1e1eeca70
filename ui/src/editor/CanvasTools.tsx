import { ActionIcon, Group, Tooltip } from "@mantine/core";
import { IconArrowsMaximize, IconCommand, IconSitemap } from "@tabler/icons-react";
import { useReactFlow } from "@xyflow/react";
import { openCommandPalette } from "./CommandPalette";
import { tidyAll } from "./editing";

export function CanvasTools() {
  const { fitView } = useReactFlow();
  const fit = () => void fitView({ padding: 0.15, maxZoom: 1 });
  const tools = [
    { label: "Tidy the layout", icon: IconSitemap, run: () => void tidyAll(fit) },
    {
      label: "Fit to the window",
      icon: IconArrowsMaximize,
      run: fit,
    },
    { label: "Command palette", icon: IconCommand, run: openCommandPalette },
  ];
  return (
    <Group gap={2} wrap="nowrap">
      {tools.map(({ label, icon: Icon, run }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={run}>
            <Icon size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}
