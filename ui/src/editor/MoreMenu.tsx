import { ActionIcon, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import {
  IconDots,
  IconDownload,
  IconHistory,
  IconKeyboard,
  IconLink,
  IconTrash,
  IconUpload,
} from "@tabler/icons-react";
import { messageOf } from "@/api/problem";
import { navigate } from "@/app/hashLocation";
import { paths } from "@/app/paths";
import { useDocument } from "@/stores/documentStore";
import { show } from "@/stores/uiStore";
import { discardEdits } from "./draftSync";
import { type ExportFormat, exportAs } from "./exporting";

const FORMATS: { format: ExportFormat; title: string }[] = [
  { format: "json", title: "JSON" },
  { format: "text", title: "Text" },
  { format: "sql", title: "SQL" },
];

export function MoreMenu() {
  const pipeline = useDocument((state) => state.pipeline);
  const hasVersion = useDocument((state) => state.told.latestVersion > 0);
  const notations = useDocument((state) => state.told.notations);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="More">
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconHistory size={14} />} onClick={() => navigate(paths.versions(pipeline))}>
          Versions and compare
        </Menu.Item>
        <Menu.Item leftSection={<IconLink size={14} />} onClick={() => void copyLink()}>
          Copy a link to this view
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconUpload size={14} />} onClick={() => show({ dialog: "import" })}>
          Import…
        </Menu.Item>
        {FORMATS.map(({ format, title }) => (
          <Menu.Item
            key={format}
            leftSection={<IconDownload size={14} />}
            disabled={format !== "json" && notations[format] === null}
            onClick={() => exportAs(format)}
          >
            Export as {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={14} />} onClick={() => show({ dialog: "keys" })}>
          Keys
        </Menu.Item>
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={14} />}
          disabled={!hasVersion}
          onClick={() => void discard(pipeline)}
        >
          Discard the draft
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

async function copyLink(): Promise<void> {
  await navigator.clipboard.writeText(window.location.href);
  notifications.show({ message: "Link copied, with the place on the canvas" });
}

async function discard(pipeline: string): Promise<void> {
  try {
    await discardEdits(pipeline);
  } catch (error) {
    notifications.show({ color: "red", message: messageOf(error) });
  }
}
