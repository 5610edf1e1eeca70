import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { writeDraft } from "@/api/pipelines";
import { paths } from "@/app/paths";
import { documentOf, EMPTY_GRAPH } from "@/document/graph";
import { nameProblem } from "@/pages/start/names";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";

interface MissingPipelineProps {
  pipeline: string;
  /** The names that come nearest, in words. */
  hint: string | null;
  onMade: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** The address names a pipeline that is not there: mistyped, renamed or deleted. Nothing is made unless asked for. */
export function MissingPipeline({ pipeline, hint, onMade }: MissingPipelineProps) {
  const make = useMutation({
    mutationFn: () => writeDraft(pipeline, 0, documentOf(EMPTY_GRAPH, pipeline), {}),
    onSuccess: onMade,
  });
  const problem = nameProblem(pipeline, NONE);
  return (
    <EmptyState
      isPage
      title={`There is no pipeline named ${pipeline}`}
      action={
        <>
          <Group gap="sm">
            <Button component={Link} href={paths.home}>
              To the pipelines
            </Button>
            {problem === null && (
              <Button variant="default" loading={make.isPending} onClick={() => make.mutate()}>
                Make a new one of this name
              </Button>
            )}
          </Group>
          {make.error && <ErrorState title="It could not be made" error={make.error} />}
        </>
      }
    >
      {hint ?? "It was deleted, or its name is spelled differently."}
    </EmptyState>
  );
}
