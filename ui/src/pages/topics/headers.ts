interface ReadHeaders {
  headers: Record<string, string>;
  problem: string | null;
}

/** `name: value` on each line. The first line without a colon is named as the problem. */
export function readHeaders(text: string): ReadHeaders {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    if (colon < 1) return { headers: {}, problem: `“${line.trim()}” is not a name, a colon and a value` };
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return { headers, problem: null };
}
