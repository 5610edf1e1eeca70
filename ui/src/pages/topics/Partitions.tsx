import { bytes, count } from "@/shared/format";
import { Panel } from "../common/Panel";
import table from "../common/table.module.css";
import type { TopicView } from "./types";

export function Partitions({ topic }: { topic: TopicView }) {
  return (
    <Panel title="Partitions" isTitleHidden>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.number}>Partition</th>
            <th className={table.number}>First offset</th>
            <th className={table.number}>Next offset</th>
            <th className={table.number}>Messages</th>
            <th className={table.number}>Size</th>
            <th className={table.number}>Segments</th>
          </tr>
        </thead>
        <tbody>
          {topic.partitions.map((partition) => (
            <tr key={partition.id}>
              <td className={table.number}>{partition.id}</td>
              <td className={table.number}>{count(partition.start_offset)}</td>
              <td className={table.number}>{count(partition.end_offset)}</td>
              <td className={table.number}>{count(partition.end_offset - partition.start_offset)}</td>
              <td className={table.number}>{bytes(partition.bytes)}</td>
              <td className={table.number}>{partition.segments ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
