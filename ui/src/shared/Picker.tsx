import { Modal, Text, TextInput } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from "react";
import classes from "./Picker.module.css";

export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly detail?: string;
  readonly icon?: ReactNode;
}

interface PickerProps {
  title: string;
  choices: readonly Choice[];
  empty: string;
  onPick: (id: string) => void;
  onClose: () => void;
}

/** One of several, found by typing: arrows move, Enter picks, Escape leaves. */
export function Picker({ title, choices, empty, onPick, onClose }: PickerProps) {
  const listId = useId();
  const [query, setQuery] = useState("");
  const [index, setIndex] = useState(0);
  const found = choices.filter((choice) => isMatch(choice, query));
  const at = Math.min(index, found.length - 1);

  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [listId, at]);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setIndex((at + step + found.length) % Math.max(1, found.length));
    }
    const choice = found[at];
    if (event.key === "Enter" && choice) {
      event.preventDefault();
      onPick(choice.id);
    }
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="md"
      padding="sm"
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
    >
      <TextInput
        data-autofocus
        role="combobox"
        aria-label={title}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${at}` : undefined}
        placeholder="Type to search"
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setIndex(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={listId} aria-label={title} className={classes.list}>
        {found.map((choice, position) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the combobox that owns the list
          <div
            key={choice.id}
            id={`${listId}-${position}`}
            role="option"
            tabIndex={-1}
            aria-selected={position === at}
            className={classes.choice}
            onClick={() => onPick(choice.id)}
            onMouseMove={() => setIndex(position)}
          >
            {choice.icon}
            <span className={classes.title}>{choice.title}</span>
            <span className={classes.detail}>{choice.detail}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <Text size="sm" c="dimmed" p="sm">
          {choices.length === 0 ? empty : "Nothing matches."}
        </Text>
      )}
    </Modal>
  );
}

function isMatch({ id, title, detail }: Choice, query: string): boolean {
  const text = `${id} ${title} ${detail ?? ""}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
