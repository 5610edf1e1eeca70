import { expect, it } from "vitest";
import { inWords } from "./inWords";

it.each([
  ["retention.ms", "604800000", "7 days"],
  ["retention.ms", "3600000", "1 hour"],
  ["retention.ms", "1500", ""],
  ["retention.ms", "-1", "no limit"],
  ["local.retention.ms", "-2", "as retention.ms"],
  ["retention.ms", "-2", ""],
  ["max.compaction.lag.ms", "9223372036854775807", "no limit"],
  ["segment.bytes", "1073741824", "1.1 GB"],
  ["cleanup.policy", "delete", ""],
  ["min.insync.replicas", "1", ""],
  ["retention.ms", null, ""],
])("says what %s = %s comes to", (name, value, words) => expect(inWords(name, value)).toBe(words));
