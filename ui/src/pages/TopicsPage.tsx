import { SchemasPage } from "./schemas/SchemasPage";
import { GroupsPage } from "./topics/GroupsPage";
import { TopicDetail } from "./topics/TopicDetail";
import { TopicTable } from "./topics/TopicTable";
import { useView } from "./topics/view";

/** All topics, consumer groups or schemas, or one topic. */
export default function TopicsPage({ topic }: { topic: string | null }) {
  const [view, setView] = useView(topic === null ? "topics" : "messages");
  if (topic !== null) return <TopicDetail key={topic} name={topic} view={view} onView={setView} />;
  if (view === "schemas") return <SchemasPage onView={setView} />;
  return view === "groups" ? <GroupsPage onView={setView} /> : <TopicTable onView={setView} />;
}
