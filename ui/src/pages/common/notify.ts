import { notifications } from "@mantine/notifications";
import { ApiProblem, messageOf } from "@/api/problem";

/** A failure that has no place of its own on the page. It stays until it is closed. */
export function notifyFailure(title: string, error: unknown): void {
  const hint = error instanceof ApiProblem && error.hint ? ` (${error.hint})` : "";
  notifications.show({ title, message: `${messageOf(error)}${hint}`, color: "red", autoClose: false });
}

export function notifyDone(message: string): void {
  notifications.show({ message, color: "teal" });
}
