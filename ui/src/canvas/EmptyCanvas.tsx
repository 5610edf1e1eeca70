import { Button, Kbd } from "@mantine/core";
import { IconPlus, IconTopologyStar3 } from "@tabler/icons-react";
import { EmptyState } from "@/shared/EmptyState";
import { show } from "@/stores/uiStore";
import classes from "./EmptyCanvas.module.css";

export function EmptyCanvas() {
  return (
    <div className={classes.over}>
      <EmptyState
        title="Nothing flows yet"
        icon={<IconTopologyStar3 size={32} stroke={1.2} aria-hidden />}
        action={
          <Button
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => show({ adding: { end: null, position: null } })}
          >
            Add the first node
          </Button>
        }
      >
        Drag an operator from the palette, press <Kbd size="xs">n</Kbd>, or write the pipeline in the SQL tab.
        Begin with a source such as Generator.
      </EmptyState>
    </div>
  );
}
