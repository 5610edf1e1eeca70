import type { Graph, Layout } from "@/document/graph";
import type { TidyTask } from "./tidy";

/** A graph that takes longer than this has a defect in it: the caller is told instead of waiting forever. */
const TIDY_TIMEOUT_MS = 20_000;

/** The tidy layout, computed beside the page so that it stays fluid. */
export function tidyInWorker(graph: Graph): Promise<Layout> {
  const task: TidyTask = { ids: Object.keys(graph.nodes), edges: graph.edges };
  const worker = new Worker(new URL("./tidy.worker.ts", import.meta.url), { type: "module" });
  return new Promise<Layout>((resolve, reject) => {
    setTimeout(() => reject(new Error("the layout took too long")), TIDY_TIMEOUT_MS);
    worker.onmessage = ({ data }: MessageEvent<Layout>) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(task);
  }).finally(() => worker.terminate());
}
