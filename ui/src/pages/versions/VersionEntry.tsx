import { Badge, Button, Group, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { VersionInfo } from "@/api/types";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { moment } from "@/shared/format";
import { notifyDone, notifyFailure } from "../common/notify";
import { restore } from "./queries";
import { type Side, type Sides, sideTitle } from "./sides";
import classes from "./VersionEntry.module.css";

interface VersionEntryProps {
  side: Side;
  pipeline: string;
  /** null for the draft. */
  version: VersionInfo | null;
  isRunning: boolean;
  sides: Sides;
  onSides: (sides: Sides) => void;
}

export function VersionEntry({ side, pipeline, version, isRunning, sides, onSides }: VersionEntryProps) {
  const title = sideTitle(side);
  const isShown = sides.old === side || sides.new === side;
  return (
    <li className={classes.entry} data-shown={isShown || undefined}>
      <Group gap="sm" mb={2}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        {isRunning && (
          <Badge variant="outline" color="gray" c="var(--hr-good)">
            running
          </Badge>
        )}
        {version?.ran_at === null && (
          <Badge variant="outline" color="gray">
            never ran
          </Badge>
        )}
      </Group>
      {version && (
        <>
          <Text size="sm" className={classes.note ?? ""}>
            {version.note || <span className={classes.soft}>no note</span>}
          </Text>
          <Text size="xs" c="dimmed" mb={6}>
            {moment(version.saved_at)}
            {version.author && `, ${version.author}`}
          </Text>
        </>
      )}
      <Group gap={4}>
        <SideButton
          name={`Show ${title} as before`}
          isPressed={sides.old === side}
          onPress={() => onSides({ ...sides, old: side })}
        >
          Before
        </SideButton>
        <SideButton
          name={`Show ${title} as after`}
          isPressed={sides.new === side}
          onPress={() => onSides({ ...sides, new: side })}
        >
          After
        </SideButton>
        {version && <Restore pipeline={pipeline} number={version.number} />}
      </Group>
    </li>
  );
}

interface SideButtonProps {
  name: string;
  isPressed: boolean;
  onPress: () => void;
  children: string;
}

function SideButton({ name, isPressed, onPress, children }: SideButtonProps) {
  return (
    <Button
      size="compact-xs"
      variant={isPressed ? "filled" : "default"}
      aria-label={name}
      aria-pressed={isPressed}
      onClick={onPress}
    >
      {children}
    </Button>
  );
}

function Restore({ pipeline, number }: { pipeline: string; number: number }) {
  const queryClient = useQueryClient();
  const take = useMutation({
    mutationFn: () => restore(pipeline, number),
    onSuccess: () => {
      void queryClient.invalidateQueries();
      notifyDone(`The draft is version ${number} now. Deploy it to run it.`);
      navigate(paths.pipeline(pipeline));
    },
    onError: (error) => notifyFailure(`Version ${number} could not be restored`, error),
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      ml="auto"
      loading={take.isPending}
      aria-label={`Restore version ${number} into the draft`}
      onClick={() => take.mutate()}
    >
      Restore
    </Button>
  );
}
