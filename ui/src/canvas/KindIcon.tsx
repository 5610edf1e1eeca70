import { IconArrowBarRight, IconArrowBarToRight, IconBolt, IconFilter } from "@tabler/icons-react";
import type { Kind } from "@/api/types";

const ICONS = {
  source: IconArrowBarRight,
  relational: IconFilter,
  serial: IconBolt,
  sink: IconArrowBarToRight,
} as const;

export const KIND_TITLES: Readonly<Record<Kind, string>> = {
  source: "Sources",
  relational: "Transform",
  serial: "Stateful steps",
  sink: "Sinks",
};

export function KindIcon({ kind, size = 16 }: { kind: Kind; size?: number }) {
  const Icon = ICONS[kind];
  return <Icon size={size} aria-hidden style={{ color: `var(--hr-${kind})`, flex: "none" }} />;
}
