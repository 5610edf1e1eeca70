/** From the JSON schema of a config to the fields of a form. */
import type { Json, Operator, SettingSchema } from "@/api/types";

export type FieldKind =
  | "choice"
  | "switch"
  | "number"
  | "list"
  | "expression"
  | "topic"
  | "column"
  | "text"
  | "json";

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly kind: FieldKind;
  /** Of the items of a list. */
  readonly itemKind: "expression" | "column" | "text";
  readonly isRequired: boolean;
  readonly defaultText: string;
  readonly choices: readonly string[];
  readonly minimum: number | null;
  readonly maximum: number | null;
}

const KINDS_BY_FORMAT: Readonly<Record<string, FieldKind>> = {
  "sql-expression": "expression",
  "sql-condition": "expression",
  "sql-columns": "expression",
  topic: "topic",
  column: "column",
};

/** `anyOf` with null is an optional setting; `$ref` names a definition beside. */
function resolved(schema: SettingSchema, root: SettingSchema): SettingSchema {
  const { $ref, anyOf, ...own } = schema;
  if ($ref) return { ...resolved(root.$defs?.[$ref.split("/").at(-1) ?? ""] ?? {}, root), ...own };
  const real = anyOf?.filter(({ type }) => type !== "null") ?? [];
  return real.length === 1 && real[0] ? { ...resolved(real[0], root), ...own } : { ...schema };
}

function kindOf(schema: SettingSchema): FieldKind {
  if (schema.enum) return "choice";
  if (schema.type === "boolean") return "switch";
  if (schema.type === "integer" || schema.type === "number") return "number";
  if (schema.type === "array" && (schema.items?.type ?? "string") === "string") return "list";
  if (schema.type === "string" || schema.type === undefined)
    return KINDS_BY_FORMAT[schema.format ?? ""] ?? "text";
  return "json";
}

function itemKindOf(schema: SettingSchema): Field["itemKind"] {
  const kind = KINDS_BY_FORMAT[schema.items?.format ?? schema.format ?? ""];
  return kind === "expression" || kind === "column" ? kind : "text";
}

const written = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

const sentence = (title: string): string => title.charAt(0) + title.slice(1).toLowerCase();

/** In the order in which the operator declares them. */
export function fieldsOf(operator: Operator): Field[] {
  const root = operator.settings;
  return Object.entries(root.properties ?? {}).map(([name, raw]) => {
    const schema = resolved(raw, root);
    return {
      name,
      title: sentence(schema.title ?? name.replaceAll("_", " ")),
      help: schema.description ?? "",
      kind: kindOf(schema),
      itemKind: itemKindOf(schema),
      isRequired: root.required?.includes(name) ?? false,
      defaultText: written(schema.default),
      choices: (schema.enum ?? []).map(String),
      minimum: schema.minimum ?? (schema.exclusiveMinimum === undefined ? null : schema.exclusiveMinimum + 1),
      maximum: schema.maximum ?? null,
    };
  });
}
