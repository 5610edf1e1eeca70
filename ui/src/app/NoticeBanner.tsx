import { Alert, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useMetrics } from "@/stores/metricsStore";

/** What is wrong with the machine or with Spark now, on every page: a full disk, a dead engine. */
export function NoticeBanner() {
  const notices = useMetrics((metrics) => metrics.notices);
  return notices.map((notice) => (
    <Alert
      key={notice.code}
      color="orange"
      variant="light"
      radius={0}
      p="xs"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      title={notice.message}
      role="alert"
    >
      {notice.hint && <Text size="xs">{notice.hint}</Text>}
    </Alert>
  ));
}
