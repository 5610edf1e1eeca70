import { EmptyState } from "@/shared/EmptyState";

export default function VersionsPage(_props: { pipeline: string }) {
  return <EmptyState title="Versions" />;
}
