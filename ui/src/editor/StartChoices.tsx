import { Checkbox, Radio, Stack } from "@mantine/core";
import type { Begin } from "@/api/pipelines";
import type { Wishes } from "./useDeployment";

export type StartChoice = Pick<Wishes, "begin" | "reset" | "confirmed" | "truncate">;

const GO_ON: StartChoice = { begin: null, reset: false, confirmed: false, truncate: false };

const BEGINS: readonly (readonly [Begin, string])[] = [
  ["last-commit", "Where this pipeline is: its last commit"],
  ["latest", "At the end of the topics: records that are not read yet are skipped"],
  ["earliest", "At the first record: rows that were written already come twice"],
];

/** What was chosen the last time. A confirmation holds once. */
export function choiceOf(tried: Wishes | undefined): StartChoice {
  if (tried === undefined) return GO_ON;
  const { begin, reset, truncate } = tried;
  return { begin, reset, truncate, confirmed: false };
}

interface StartChoicesProps {
  choice: StartChoice;
  /** The code of the refusal that asks for a choice. */
  refusal: string | null;
  onChange: (choice: StartChoice) => void;
}

interface BeginChoiceProps {
  begin: Begin | null;
  onChange: (begin: Begin) => void;
}

/** Where queries begin that cannot go on exactly. */
export function BeginChoice({ begin, onChange }: BeginChoiceProps) {
  return (
    <Radio.Group
      label="Where these queries begin"
      value={begin ?? ""}
      onChange={(chosen) => onChange(chosen as Begin)}
    >
      <Stack gap={6} mt={6}>
        {BEGINS.map(([value, label]) => (
          <Radio size="xs" key={value} value={value} label={label} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

/** Where queries begin that cannot go on exactly, and whether everything begins anew. */
export function StartChoices({ choice, refusal, onChange }: StartChoicesProps) {
  const isAsked = refusal === "needs_begin" || choice.begin !== null;
  return (
    <Stack gap="xs">
      {isAsked && <BeginChoice begin={choice.begin} onChange={(begin) => onChange({ ...choice, begin })} />}
      <Checkbox
        size="xs"
        label="Forget state and offsets: begin at the sources' start"
        checked={choice.reset}
        onChange={(event) => onChange({ ...GO_ON, begin: choice.begin, reset: event.currentTarget.checked })}
      />
      {choice.reset && (
        <Checkbox
          size="xs"
          ml="lg"
          label="Delete the records of the output topics first"
          checked={choice.truncate}
          onChange={(event) => onChange({ ...choice, truncate: event.currentTarget.checked })}
        />
      )}
      {choice.reset && refusal === "needs_confirmation" && (
        <Checkbox
          size="xs"
          ml="lg"
          label="I have read what is forgotten and what comes twice"
          checked={choice.confirmed}
          onChange={(event) => onChange({ ...choice, confirmed: event.currentTarget.checked })}
        />
      )}
    </Stack>
  );
}
