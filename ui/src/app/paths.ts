/** Every address inside the editor, in one place. */
export const paths = {
  home: "/",
  topics: "/topics",
  topic: (topic: string) => `/topics/${encodeURIComponent(topic)}`,
  pipeline: (name: string) => `/pipelines/${encodeURIComponent(name)}`,
  versions: (name: string) => `/pipelines/${encodeURIComponent(name)}/versions`,
};
