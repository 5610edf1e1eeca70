import { Text } from "@mantine/core";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { useStartTemplate } from "./create";
import { freeName } from "./names";
import { useTemplates } from "./queries";
import { TemplateCard } from "./TemplateCard";
import classes from "./Templates.module.css";

interface TemplatesProps {
  /** Names of pipelines that are there. */
  taken: ReadonlySet<string>;
  isFirst: boolean;
}

/** Pipelines that run at once: each makes its own rows. */
export function Templates({ taken, isFirst }: TemplatesProps) {
  const { data, error, refetch } = useTemplates();
  const start = useStartTemplate();
  if (error)
    return (
      <ErrorState title="The templates could not be read" error={error} onRetry={() => void refetch()} />
    );
  if (!data) return <Loading what="the templates" />;
  return (
    <section aria-labelledby="templates">
      <Text component="h2" id="templates" size="sm" fw={600} mb={4}>
        {isFirst ? "Run one of these" : "Templates"}
      </Text>
      <Text size="sm" c="dimmed" mb="md">
        {isFirst
          ? "Each makes its own rows: press Run and watch them flow. Everything can be changed afterwards."
          : "Each makes its own rows and runs at once."}
      </Text>
      <ul className={classes.cards}>
        {data.templates.map((template) => (
          <TemplateCard
            key={template.name}
            template={template}
            isBusy={start.isPending && start.variables.template === template.name}
            onUse={(isRun) =>
              start.mutate({
                template: template.name,
                title: template.title,
                name: freeName(template.name, taken),
                isRun,
              })
            }
          />
        ))}
      </ul>
    </section>
  );
}
