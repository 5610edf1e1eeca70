/** What the API says of topics and groups. */
import type { components } from "@/api/schema";

type Schemas = components["schemas"];

export type TopicEntry = Schemas["TopicEntry"];
export type TopicView = Schemas["TopicView"];
export type Content = Schemas["Content"];
export type Message = Schemas["MessageView"];
export type MessagePage = Schemas["MessagePage"];
export type Produced = Schemas["ProducedView"];
export type GroupEntry = Schemas["GroupEntry"];
export type GroupList = Schemas["GroupList"];
export type GroupView = Schemas["GroupView"];
export type ResetView = Schemas["ResetView"];
