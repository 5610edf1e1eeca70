import { Group, VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import { EmptyState } from "@/shared/EmptyState";
import { ErrorState } from "@/shared/ErrorState";
import { Loading } from "@/shared/Loading";
import { Page } from "../common/Page";
import { Panel } from "../common/Panel";
import { RowOpener } from "../common/RowOpener";
import table from "../common/table.module.css";
import { ViewSwitch } from "../topics/ViewSwitch";
import { useSubjects } from "./queries";
import { SubjectDetail } from "./SubjectDetail";

const COLUMNS = 2;

/** What the schema registry knows, by subject. */
export function SchemasPage({ onView }: { onView: (view: string | null) => void }) {
  return (
    <Page title="Schemas">
      <Group gap="md" mb="md">
        <ViewSwitch view="schemas" onView={onView} />
      </Group>
      <SubjectTable />
    </Page>
  );
}

function SubjectTable() {
  const { data: subjects, error, refetch } = useSubjects();
  if (!subjects && error) {
    return <ErrorState title="The schemas could not be read" error={error} onRetry={() => void refetch()} />;
  }
  if (!subjects) return <Loading what="the schemas" />;
  if (subjects.length === 0) {
    return (
      <EmptyState title="No schemas">
        A subject appears here when a client registers a schema: the registry speaks Confluent's API, at the
        address of this page with /api/registry.
      </EmptyState>
    );
  }
  return (
    <Panel title="Subjects" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.fit}>
              <VisuallyHidden>Open</VisuallyHidden>
            </th>
            <th>Subject</th>
          </tr>
        </thead>
        <tbody>
          {subjects.map((subject) => (
            <SubjectRow key={subject} subject={subject} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function SubjectRow({ subject }: { subject: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <tr className={table.row}>
        <RowOpener isOpen={isOpen} label={`Versions of ${subject}`} onToggle={() => setIsOpen(!isOpen)} />
        <td style={{ overflowWrap: "anywhere" }}>{subject}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={COLUMNS}>
            <SubjectDetail subject={subject} />
          </td>
        </tr>
      )}
    </>
  );
}
