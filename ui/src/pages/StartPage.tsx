import { EmptyState } from "@/shared/EmptyState";

export default function StartPage() {
  return <EmptyState title="Start" />;
}
