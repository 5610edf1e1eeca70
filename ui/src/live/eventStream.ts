/** The one stream of events from the server. It feeds the metrics store, and tells when a draft changed elsewhere. */
import { checkServer, noteOnline } from "@/api/connection";
import type { JobEvent, MetricsTick } from "@/api/types";
import { forgetEvents, noteEvents, noteMissed, noteTick } from "@/stores/metricsStore";

const KINDS: readonly JobEvent["kind"][] = [
  "started",
  "stopped",
  "state_changed",
  "error",
  "progress",
  "end_of_stream",
  "draft_changed",
  "signal",
  "stalled",
  "system",
];
/** The browser tries again by itself, except when it was refused: then we do, after this long. Figures come twice a
 * second: a stream that is silent for as long may have lost its server. */
const REOPEN_MS = 5_000;

interface Listener {
  onEvent: (event: JobEvent) => void;
  /** Events before were missed. */
  onOpen: () => void;
}

let heardMs = 0;

/** Follows the stream until the returned function is called. */
export function followEvents(listener: Listener): () => void {
  let source = open(listener);
  const timer = setInterval(() => {
    if (source.readyState === EventSource.OPEN && Date.now() - heardMs > REOPEN_MS) void checkServer();
    if (source.readyState !== EventSource.CLOSED) return;
    forgetEvents();
    source = open(listener);
  }, REOPEN_MS);
  return () => {
    clearInterval(timer);
    source.close();
  };
}

function open({ onEvent, onOpen }: Listener): EventSource {
  const source = new EventSource("/api/events");
  source.addEventListener("open", () => {
    heardMs = Date.now();
    noteOnline();
    onOpen();
  });
  source.addEventListener("error", (message) => {
    // The server's own `error` events carry data; the browser's, about the connection, do not.
    if (!(message instanceof MessageEvent)) void checkServer();
  });
  source.addEventListener("metrics", (message) => {
    heardMs = Date.now();
    noteOnline();
    noteTick(JSON.parse(message.data) as MetricsTick);
  });
  source.addEventListener("missed", (message) =>
    noteMissed((JSON.parse(message.data) as { missed: number }).missed),
  );
  for (const kind of KINDS) {
    source.addEventListener(kind, (message) => {
      if (!(message instanceof MessageEvent)) return;
      const event = JSON.parse(message.data as string) as JobEvent;
      if (kind !== "draft_changed") noteEvents(event.pipeline, [event]);
      onEvent(event);
    });
  }
  return source;
}
