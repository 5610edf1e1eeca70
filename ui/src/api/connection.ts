import { create } from "zustand";

interface ConnectionState {
  isOnline: boolean;
}

const PROBE_INTERVAL_MS = 2_000;
/** A server that takes longer to say that it is there counts as gone. */
const ANSWER_MS = 5_000;

export const useConnection = create<ConnectionState>(() => ({ isOnline: true }));

export function noteOnline(): void {
  if (!useConnection.getState().isOnline) useConnection.setState({ isOnline: true });
}

export function noteOffline(): void {
  if (useConnection.getState().isOnline) useConnection.setState({ isOnline: false });
}

/** Marks the page while the server is gone: live figures are grey then. Returns the end of it. */
export function markServer(): () => void {
  const mark = ({ isOnline }: ConnectionState) => {
    document.documentElement.dataset.server = isOnline ? "there" : "gone";
  };
  mark(useConnection.getState());
  return useConnection.subscribe(mark);
}

/** Asks for /health while the server is gone, so that the editor notices when it is back. Returns the end of it. */
export function watchServer(): () => void {
  const timer = setInterval(probe, PROBE_INTERVAL_MS);
  return () => clearInterval(timer);
}

async function probe(): Promise<void> {
  if (!useConnection.getState().isOnline) await checkServer();
}

/** Asks whether the server is there, and notes the answer. */
export async function checkServer(): Promise<void> {
  const response = await fetch("/health", {
    cache: "no-store",
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => null);
  if (response?.ok) noteOnline();
  else noteOffline();
}
