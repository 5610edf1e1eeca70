import { Button, Group, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import type { DocumentBody, TemplateList } from "@/api/types";
import { Sketch } from "./Sketch";
import classes from "./TemplateCard.module.css";

interface TemplateCardProps {
  template: TemplateList["templates"][number];
  isBusy: boolean;
  onUse: (isRun: boolean) => void;
}

export function TemplateCard({ template, isBusy, onUse }: TemplateCardProps) {
  return (
    <li className={classes.card}>
      <div className={classes.picture}>
        <Sketch document={template.document as DocumentBody} layout={template.layout} />
      </div>
      <Text component="h3" size="sm" fw={600}>
        {template.title}
      </Text>
      <Text size="sm" c="dimmed" className={classes.summary}>
        {template.summary}
      </Text>
      <Group gap="sm">
        <Button
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          loading={isBusy}
          aria-label={`Run ${template.title}`}
          onClick={() => onUse(true)}
        >
          Run
        </Button>
        <Button
          variant="subtle"
          color="gray"
          className={classes.second ?? ""}
          disabled={isBusy}
          aria-label={`Open ${template.title} without running it`}
          onClick={() => onUse(false)}
        >
          Open
        </Button>
      </Group>
    </li>
  );
}
