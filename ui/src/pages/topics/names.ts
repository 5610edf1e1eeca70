/** Names that Kafka takes. */
const NAME = /^[A-Za-z0-9._-]+$/;
const LENGTH_MAX = 249;

/** Why it cannot be the name of a topic; null if it can, or is not written yet. */
export function topicNameProblem(name: string): string | null {
  if (name === "") return null;
  if (name.length > LENGTH_MAX) return `At most ${LENGTH_MAX} characters; these are ${name.length}`;
  if (name === "." || name === "..") return "A name is more than dots";
  return NAME.test(name) ? null : "Letters, digits, dots, hyphens and underscores; no spaces";
}
