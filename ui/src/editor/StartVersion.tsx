import { Button, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Begin, start } from "@/api/pipelines";
import { asksForBegin, Refusal } from "./Refusal";
import { BeginChoice } from "./StartChoices";

interface StartVersionProps {
  pipeline: string;
  /** Null: the one that ran last. */
  version: number | null;
  label: string;
  icon: ReactNode;
  /** Why an attempt before this one was refused. */
  refused?: Error | null;
  onDone: () => void;
}

/** Starts a version. Where its queries cannot go on exactly, one chooses where they begin. */
export function StartVersion({ pipeline, version, label, icon, refused = null, onDone }: StartVersionProps) {
  const [begin, setBegin] = useState<Begin | null>(null);
  const attempt = useMutation({ mutationFn: () => start(pipeline, version, begin), onSuccess: onDone });
  const error = attempt.error ?? refused;
  const isAsked = begin !== null || asksForBegin(error);
  return (
    <Stack gap="sm">
      {error && (
        <Refusal title={`${version === null ? "It" : `Version ${version}`} was not started`} error={error} />
      )}
      {isAsked && <BeginChoice begin={begin} onChange={setBegin} />}
      <Button
        leftSection={icon}
        loading={attempt.isPending}
        disabled={isAsked && begin === null}
        onClick={() => attempt.mutate()}
        style={{ alignSelf: "flex-end" }}
      >
        {label}
      </Button>
    </Stack>
  );
}
