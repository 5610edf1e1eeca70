import { Badge, Tooltip } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useEffect } from "react";
import { markServer, useConnection, watchServer } from "@/api/connection";

/** Says so while the server does not answer; nothing otherwise. */
export function ConnectionStatus() {
  const isOnline = useConnection((state) => state.isOnline);
  useEffect(watchServer, []);
  useEffect(markServer, []);
  if (isOnline) return <span role="status" aria-label="Connection" />;
  return (
    <Tooltip label="The server does not answer. Edits stay here and are saved when it is back.">
      <Badge
        role="status"
        aria-label="Connection"
        color="red"
        variant="light"
        leftSection={<IconPlugConnectedX size={12} aria-hidden />}
      >
        Server not reachable
      </Badge>
    </Tooltip>
  );
}
