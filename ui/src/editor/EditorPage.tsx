import { EmptyState } from "@/shared/EmptyState";

export default function EditorPage({ pipeline }: { pipeline: string }) {
  return <EmptyState title={pipeline} />;
}
