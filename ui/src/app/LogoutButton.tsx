import { ActionIcon, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconLogout } from "@tabler/icons-react";
import { request } from "@/api/client";
import { messageOf } from "@/api/problem";

/** Ends the session of this browser; what is drawn is kept by the server. */
export function LogoutButton() {
  return (
    <Tooltip label="Log out">
      <ActionIcon variant="subtle" color="gray" aria-label="Log out" onClick={() => void logOut()}>
        <IconLogout size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

async function logOut(): Promise<void> {
  try {
    await request<void>("POST", "/api/logout");
    window.location.reload();
  } catch (error) {
    notifications.show({ color: "red", message: messageOf(error) });
  }
}
