import {
  ActionIcon,
  Badge,
  Button,
  Group,
  SegmentedControl,
  Text,
  Tooltip,
  UnstyledButton,
} from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp, IconLayoutSidebar, IconRocket } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { redoLabel, undoLabel } from "@/document/history";
import { plural } from "@/shared/format";
import { StateBadge } from "@/shared/StateBadge";
import { redoNext, undoLast, useDocument } from "@/stores/documentStore";
import { show, type Tab, useUi } from "@/stores/uiStore";
import { MoreMenu } from "./MoreMenu";
import { RunButtons } from "./RunButtons";
import { SaveStatus } from "./SaveStatus";
import classes from "./Toolbar.module.css";
import { useJob } from "./useJobState";

const TABS: { value: Tab; label: string }[] = [
  { value: "canvas", label: "Canvas" },
  { value: "sql", label: "SQL" },
  { value: "text", label: "Text" },
  { value: "python", label: "Python" },
];

/** Name and state on the left, views in the middle, what can be done on the right. */
export function Toolbar({ onDeploy, commands }: { onDeploy: () => void; commands: ReactNode }) {
  const pipeline = useDocument((state) => state.pipeline);
  const { state } = useJob(pipeline);
  const tab = useUi((ui) => ui.tab);
  const isPaletteOpen = useUi((ui) => ui.isPaletteOpen);
  return (
    <div className={classes.toolbar} role="toolbar" aria-label="Pipeline">
      <Icon
        label={isPaletteOpen ? "Hide the palette" : "Show the palette"}
        onClick={() => show({ isPaletteOpen: !isPaletteOpen })}
      >
        <IconLayoutSidebar size={16} aria-hidden />
      </Icon>
      <Text component="h1" className={classes.name} title={pipeline}>
        {pipeline}
      </Text>
      <StateBadge state={state} />
      <SaveStatus />
      <SegmentedControl
        size="xs"
        value={tab}
        data={TABS}
        onChange={(value) => show({ tab: value as Tab })}
        aria-label="View"
        className={classes.tabs}
      />
      <UndoButtons />
      {commands}
      <Group gap={6} wrap="nowrap" ml="auto" flex="none">
        <ChangesChip onClick={onDeploy} />
        <RunButtons pipeline={pipeline} />
        <Button leftSection={<IconRocket size={14} aria-hidden />} onClick={onDeploy}>
          Deploy
        </Button>
        <MoreMenu />
      </Group>
    </div>
  );
}

function UndoButtons() {
  const undo = useDocument((state) => undoLabel(state.history));
  const redo = useDocument((state) => redoLabel(state.history));
  return (
    <Group gap={2} wrap="nowrap">
      <Icon
        label={undo ? `Undo: ${undo}` : "Nothing to undo"}
        name="Undo"
        isDisabled={undo === null}
        onClick={undoLast}
      >
        <IconArrowBackUp size={16} aria-hidden />
      </Icon>
      <Icon
        label={redo ? `Redo: ${redo}` : "Nothing to redo"}
        name="Redo"
        isDisabled={redo === null}
        onClick={redoNext}
      >
        <IconArrowForwardUp size={16} aria-hidden />
      </Icon>
    </Group>
  );
}

interface IconProps {
  label: string;
  name?: string;
  isDisabled?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Icon({ label, name, isDisabled = false, onClick, children }: IconProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={name ?? label}
        disabled={isDisabled}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** How far the draft is from what runs, or from the latest version. */
function ChangesChip({ onClick }: { onClick: () => void }) {
  const count = useDocument((state) => state.told.changes.length);
  const from = useDocument((state) => state.told.changesFrom);
  if (count === 0) return null;
  if (from === "nothing")
    return (
      <Badge variant="outline" color="gray">
        never deployed
      </Badge>
    );
  const against = { running: "what runs", latest: "the latest version" }[from];
  return (
    <Tooltip label={`Against ${against}. Moving nodes is no change.`}>
      <UnstyledButton onClick={onClick} aria-label={`${plural(count, "change")} against ${against}`}>
        <Badge variant="light" style={{ cursor: "pointer" }}>
          {plural(count, "change")}
        </Badge>
      </UnstyledButton>
    </Tooltip>
  );
}
