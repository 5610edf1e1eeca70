import { Input } from "@mantine/core";
import { LazyCode } from "@/code/LazyCode";
import type { Field } from "./fields";

interface ExpressionFieldProps {
  field: Field;
  value: string;
  error: string | null;
  columns: readonly string[];
  onChange: (value: string) => void;
}

/** An SQL expression, with completion of the columns that come in. */
export function ExpressionField({ field, value, error, columns, onChange }: ExpressionFieldProps) {
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
      <LazyCode
        isField
        language="sql"
        label={field.title}
        value={value}
        placeholder={field.defaultText}
        columns={columns}
        onChange={onChange}
      />
    </Input.Wrapper>
  );
}
