// Completes package-lock.json after `npm install`: not every registry offers the native packages of every platform, npm
// leaves out what it cannot see, and `npm ci` then refuses the file elsewhere. Their place is derived from their names.
import { readFile, writeFile } from "node:fs/promises";

const LOCK = new URL("../package-lock.json", import.meta.url);
const CPUS = ["arm64", "x64", "arm", "ppc64", "s390x", "ia32", "riscv64", "loong64", "wasm32"];
const SYSTEMS = ["linux", "darwin", "win32", "android", "freebsd", "openharmony"];

function entry(name, version, parent) {
  const words = name.split("/").pop().split("-");
  const cpu = CPUS.find((word) => words.includes(word));
  const os = SYSTEMS.find((word) => words.includes(word));
  const libc = { gnu: "glibc", gnueabihf: "glibc", musl: "musl" }[words.at(-1)];
  return {
    version,
    ...(cpu && { cpu: [cpu] }),
    ...(parent.dev && { dev: true }),
    ...(os === "linux" && libc && { libc: [libc] }),
    ...(parent.license && { license: parent.license }),
    optional: true,
    ...(os && { os: [os] }),
  };
}

const lock = JSON.parse(await readFile(LOCK, "utf8"));
const packages = { ...lock.packages };
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    packages[`node_modules/${name}`] ??= entry(name, version, parent);
  }
}
// A lock names packages, not the addresses of their sponsors.
for (const one of Object.values(packages)) delete one.funding;
const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
await writeFile(LOCK, `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`);
