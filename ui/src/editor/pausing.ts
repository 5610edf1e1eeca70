import { notifications } from "@mantine/notifications";
import { sendSignal } from "@/api/pipelines";
import { messageOf } from "@/api/problem";
import { useDocument } from "@/stores/documentStore";
import { useMetrics } from "@/stores/metricsStore";

/** Sends the signal that pauses the open pipeline, or resumes it. Both take effect at their place in the topics. */
export async function togglePause(): Promise<void> {
  const { pipeline } = useDocument.getState();
  const state = useMetrics.getState().jobs[pipeline]?.state;
  if (state !== "running" && state !== "paused") {
    notifications.show({ message: "Only a pipeline that runs can be paused." });
    return;
  }
  try {
    await sendSignal(pipeline, { kind: state === "paused" ? "resume" : "pause" });
  } catch (error) {
    notifications.show({ color: "red", message: messageOf(error) });
  }
}
