import { ActionIcon } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import table from "./table.module.css";

interface RowOpenerProps {
  isOpen: boolean;
  /** What is shown below the row, for screen readers. */
  label: string;
  onToggle: () => void;
}

/** The first cell of a row that can be opened. */
export function RowOpener({ isOpen, label, onToggle }: RowOpenerProps) {
  const Icon = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <td className={table.fit}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={onToggle}
      >
        <Icon size={14} aria-hidden />
      </ActionIcon>
    </td>
  );
}
