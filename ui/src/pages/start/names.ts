/** Names of pipelines become parts of file names and topics: the server allows these only. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Why it cannot be the name of a new pipeline; null if it can. */
export function nameProblem(name: string, taken: ReadonlySet<string>): string | null {
  if (name === "") return null;
  if (taken.has(name)) return "There is a pipeline of this name already";
  return NAME.test(name) ? null : "Letters, digits, dots, hyphens and underscores; a letter or digit first";
}

/** The name itself, or with the first number that makes it new. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
