import { Button } from "@mantine/core";
import { IconCode, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { Page } from "./common/Page";
import { FromSql } from "./start/FromSql";
import { NewPipeline } from "./start/NewPipeline";
import { PipelineTable } from "./start/PipelineTable";
import { usePipelines } from "./start/queries";
import { Templates } from "./start/Templates";

type Dialog = "blank" | "sql" | null;

export default function StartPage() {
  const { data, error, refetch } = usePipelines();
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  const pipelines = data?.pipelines ?? [];
  const taken = new Set(pipelines.map((pipeline) => pipeline.name));
  const actions = (
    <>
      <Button
        variant="default"
        leftSection={<IconCode size={14} aria-hidden />}
        onClick={() => setDialog("sql")}
      >
        From SQL
      </Button>
      <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setDialog("blank")}>
        New pipeline
      </Button>
    </>
  );
  return (
    <Page title={data && pipelines.length === 0 ? "Your first pipeline" : "Pipelines"} actions={actions}>
      {data === undefined && error === null && <Loading what="the pipelines" />}
      {data === undefined && error !== null && (
        <ErrorState title="The pipelines could not be read" error={error} onRetry={() => void refetch()} />
      )}
      {pipelines.length > 0 && <PipelineTable pipelines={pipelines} />}
      {data && <Templates taken={taken} isFirst={pipelines.length === 0} />}
      <NewPipeline isOpen={dialog === "blank"} taken={taken} onClose={close} />
      <FromSql isOpen={dialog === "sql"} taken={taken} onClose={close} />
    </Page>
  );
}
