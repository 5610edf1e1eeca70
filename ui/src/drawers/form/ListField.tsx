import { ActionIcon, Button, Group, Input, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useRef, useState } from "react";
import type { Json } from "@/api/types";
import { LazyCode } from "@/code/LazyCode";
import type { SettingFieldProps } from "./SettingField";

const itemsOf = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

const takeFocus = (field: HTMLInputElement | null): void => field?.focus();

/** Several values, one under the other. Somebody who adds one writes into it next. */
export function ListField({ field, value, error, columns, onChange }: SettingFieldProps) {
  const items = itemsOf(value);
  const set = (next: string[]) => onChange(next.length === 0 ? undefined : next);
  /** The value that was added last, by its place. */
  const [added, setAdded] = useState<number | null>(null);
  const adder = useRef<HTMLButtonElement>(null);
  const add = () => {
    setAdded(items.length);
    set([...items, ""]);
  };
  const remove = (index: number) => {
    setAdded(null);
    set(items.filter((_item, at) => at !== index));
    adder.current?.focus();
  };
  const replace = (index: number, text: string) => set(items.map((item, at) => (at === index ? text : item)));
  return (
    <Input.Wrapper
      size="xs"
      label={field.title}
      labelElement="div"
      description={field.help}
      error={error}
      withAsterisk={field.isRequired}
      inputWrapperOrder={["label", "input", "description", "error"]}
    >
      <Stack gap={4} mb={4} role="group" aria-label={field.title}>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity but their place
          <Group key={index} gap={4} wrap="nowrap" align="flex-start">
            <div style={{ flex: 1, minWidth: 0 }}>
              {field.itemKind === "text" ? (
                <TextInput
                  aria-label={`${field.title} ${index + 1}`}
                  ref={index === added ? takeFocus : null}
                  value={item}
                  onChange={(event) => replace(index, event.currentTarget.value)}
                />
              ) : (
                <LazyCode
                  isField
                  language="sql"
                  label={`${field.title} ${index + 1}`}
                  value={item}
                  columns={columns}
                  takesFocus={index === added}
                  onChange={(text) => replace(index, text)}
                />
              )}
            </div>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove ${field.title} ${index + 1}`}
              onClick={() => remove(index)}
            >
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          ref={adder}
          variant="default"
          size="compact-xs"
          w="fit-content"
          leftSection={<IconPlus size={12} aria-hidden />}
          onClick={add}
        >
          Add to {field.title.toLowerCase()}
        </Button>
        {items.length === 0 && field.defaultText !== "" && field.defaultText !== "[]" && (
          <Input.Description>Default: {field.defaultText}</Input.Description>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
