// Writes src/api/schema.ts from openapi.json; with --check it fails when the file is not what would be written.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const SOURCE = new URL("../openapi.json", import.meta.url);
const TARGET = new URL("../src/api/schema.ts", import.meta.url);
const HEADER = "// Made by `npm run types` from openapi.json. Do not edit.\n\n";

const wanted = HEADER + astToString(await openapiTS(SOURCE, { alphabetize: true }));
if (process.argv.includes("--check")) {
  const found = await readFile(TARGET, "utf8").catch(() => "");
  if (found !== wanted) {
    process.stderr.write("src/api/schema.ts does not fit openapi.json: run `npm run types` and commit it\n");
    process.exit(1);
  }
} else {
  await writeFile(TARGET, wanted);
}
