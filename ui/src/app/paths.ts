/** Every address inside the editor, in one place. */
export const paths = {
  home: "/",
  topics: "/topics",
  topic: (topic: string) => `/topics/${encodeURIComponent(topic)}`,
  /** The messages of a topic from a record on. */
  record: (topic: string, partition: number, offset: number) =>
    `/topics/${encodeURIComponent(topic)}?partition=${partition}&offset=${offset}`,
  pipeline: (name: string) => `/pipelines/${encodeURIComponent(name)}`,
  versions: (name: string) => `/pipelines/${encodeURIComponent(name)}/versions`,
};
