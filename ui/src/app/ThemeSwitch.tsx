import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { IconMoon, IconSun } from "@tabler/icons-react";

export function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const other = scheme === "dark" ? "light" : "dark";
  const Icon = scheme === "dark" ? IconSun : IconMoon;
  return (
    <Tooltip label={`Use the ${other} theme`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Use the ${other} theme`}
        onClick={() => setColorScheme(other)}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
