import { Button, Select, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import classes from "./MessageSearch.module.css";
import { type Search, type Start, searchProblem } from "./search";

const ALL = "all";
const STARTS: { value: Start; label: string }[] = [
  { value: "latest", label: "Newest" },
  { value: "earliest", label: "Oldest first" },
  { value: "offset", label: "From offset" },
  { value: "timestamp", label: "From time" },
];
const FORMATS = [
  { value: "auto", label: "Automatic" },
  { value: "json", label: "JSON" },
  { value: "text", label: "Text" },
  { value: "base64", label: "Base64" },
];

interface MessageSearchProps {
  partitions: number[];
  search: Search;
  onSearch: (search: Search) => void;
}

/** Choices take effect at once; what is typed, with Enter or the button. */
export function MessageSearch({ partitions, search, onSearch }: MessageSearchProps) {
  const [typed, setTyped] = useState(search);
  const problem = searchProblem(typed);
  const change = (part: Partial<Search>, isDone: boolean) => {
    const next = { ...typed, ...part };
    setTyped(next);
    if (isDone && searchProblem(next) === null) onSearch(next);
  };
  const isPlaced = typed.start === "offset" || typed.start === "timestamp";
  return (
    <search className={classes.search}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          change({}, true);
        }}
      >
        <Select
          w={130}
          aria-label="Where to begin"
          data={STARTS}
          value={typed.start}
          onChange={(start) => change({ start: (start ?? "latest") as Start, at: "" }, true)}
        />
        {isPlaced && (
          <TextInput
            w={typed.start === "offset" ? 120 : 210}
            aria-label={typed.start === "offset" ? "Offset" : "Time"}
            placeholder={typed.start === "offset" ? "Offset" : ""}
            type={typed.start === "offset" ? "text" : "datetime-local"}
            step={1}
            inputMode={typed.start === "offset" ? "numeric" : "text"}
            error={typed.at !== "" && problem}
            value={typed.at}
            onChange={(event) => change({ at: event.currentTarget.value }, false)}
          />
        )}
        <Select
          w={130}
          aria-label="Partition"
          data={[
            { value: ALL, label: "All partitions" },
            ...partitions.map((id) => ({ value: `${id}`, label: `Partition ${id}` })),
          ]}
          value={typed.partition === null ? ALL : `${typed.partition}`}
          onChange={(value) =>
            change({ partition: value === null || value === ALL ? null : Number(value) }, true)
          }
        />
        <Select
          w={110}
          aria-label="Show values as"
          data={FORMATS}
          value={typed.format}
          onChange={(format) => change({ format: format ?? "auto" }, true)}
        />
        <TextInput
          className={classes.filter ?? ""}
          aria-label="Filter"
          placeholder="Text in key or value"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={typed.filter}
          onChange={(event) => change({ filter: event.currentTarget.value }, false)}
        />
        <Button type="submit" variant="light" disabled={problem !== null}>
          Search
        </Button>
      </form>
    </search>
  );
}
