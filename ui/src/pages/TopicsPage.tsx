import { EmptyState } from "@/shared/EmptyState";

export default function TopicsPage(_props: { topic: string | null }) {
  return <EmptyState title="Topics" />;
}
