import { Autocomplete, JsonInput, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import type { Json } from "@/api/types";
import { ExpressionField } from "./ExpressionField";
import type { Field } from "./fields";
import { ListField } from "./ListField";

export interface SettingFieldProps {
  field: Field;
  value: Json | undefined;
  error: string | null;
  columns: readonly string[];
  topics: readonly string[];
  onChange: (value: Json | undefined) => void;
}

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** One setting. What is emptied is unset, so that its default holds again. */
export function SettingField(props: SettingFieldProps) {
  const { field, value, error, columns, topics, onChange } = props;
  const common = {
    label: field.title,
    description: field.help,
    error,
    withAsterisk: field.isRequired,
    inputWrapperOrder: ["label", "input", "description", "error"] as (
      | "label"
      | "input"
      | "description"
      | "error"
    )[],
  };
  const setText = (text: string) => onChange(text === "" ? undefined : text);
  switch (field.kind) {
    case "choice":
      return (
        <Select
          {...common}
          data={[...field.choices]}
          value={textOf(value) || field.defaultText || null}
          placeholder="Choose"
          onChange={(chosen) =>
            onChange(chosen === null || chosen === field.defaultText ? undefined : chosen)
          }
        />
      );
    case "switch":
      return (
        <Switch
          size="xs"
          label={field.title}
          description={field.help}
          error={error}
          checked={value === undefined ? field.defaultText === "true" : value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "number":
      return (
        <NumberInput
          {...common}
          value={typeof value === "number" ? value : ""}
          placeholder={field.defaultText}
          {...(field.minimum === null ? {} : { min: field.minimum })}
          {...(field.maximum === null ? {} : { max: field.maximum })}
          clampBehavior="none"
          thousandSeparator=" "
          onChange={(number) => onChange(typeof number === "number" ? number : undefined)}
        />
      );
    case "list":
      return <ListField {...props} />;
    case "expression":
      return (
        <ExpressionField
          field={field}
          value={textOf(value)}
          error={error}
          columns={columns}
          onChange={setText}
        />
      );
    case "topic":
    case "column":
      return (
        <Autocomplete
          {...common}
          size="xs"
          data={field.kind === "topic" ? [...topics] : [...columns]}
          value={textOf(value)}
          placeholder={field.defaultText}
          onChange={setText}
        />
      );
    case "json":
      return (
        <JsonInput
          {...common}
          autosize
          minRows={2}
          value={textOf(value)}
          onChange={(text) => onChange(jsonOr(text, value))}
        />
      );
    case "text":
      return (
        <TextInput
          {...common}
          value={textOf(value)}
          placeholder={field.defaultText}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      );
  }
}

function jsonOr(text: string, before: Json | undefined): Json | undefined {
  try {
    return text.trim() === "" ? undefined : (JSON.parse(text) as Json);
  } catch {
    return before;
  }
}
