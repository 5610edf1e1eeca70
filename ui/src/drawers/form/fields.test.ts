import { describe, expect, it } from "vitest";
import { operatorOf } from "@/document/testing";
import { fieldsOf } from "./fields";

const operator = operatorOf("x", ["in"], ["out"], {
  required: ["condition"],
  properties: {
    condition: { title: "Condition", type: "string", format: "sql-expression" },
    format: { title: "Format", type: "string", enum: ["json", "csv"], default: "json" },
    max_rows: { title: "Max Rows", type: "integer", exclusiveMinimum: 0, default: 10 },
    dead_letter: { anyOf: [{ type: "string", format: "topic" }, { type: "null" }], default: null },
    columns: { type: "array", items: { type: "string", format: "sql-expression" } },
    header: { type: "boolean", default: true },
    policy: { $ref: "#/$defs/Policy" },
    extra: { type: "object" },
  },
  $defs: { Policy: { type: "string", enum: ["block", "drop"] } },
});

describe("fields of a form", () => {
  const fields = Object.fromEntries(fieldsOf(operator).map((field) => [field.name, field]));

  it("come from types and formats", () => {
    expect(Object.values(fields).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "condition expression",
      "format choice",
      "max_rows number",
      "dead_letter topic",
      "columns list",
      "header switch",
      "policy choice",
      "extra json",
    ]);
    expect(fields.columns?.itemKind).toBe("expression");
  });

  it("know what is required, default and least", () => {
    expect(fields.condition?.isRequired).toBe(true);
    expect(fields.format).toMatchObject({ isRequired: false, defaultText: "json", choices: ["json", "csv"] });
    expect(fields.max_rows).toMatchObject({ title: "Max rows", minimum: 1, defaultText: "10" });
    expect(fields.dead_letter?.defaultText).toBe("");
  });
});
