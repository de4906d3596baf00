import { isNumeric } from "./showValue.ts";
import { alternatives, type ValueSchema } from "./valueSchema.ts";

/** A flag's text as the value that it means. Text that means none of the schema's types stays text, for validation to name. */
export function readText(text: string, schema: ValueSchema): unknown {
  for (const { type, items, const: constant } of alternatives(schema)) {
    if (constant === text) return text;
    if ((type === "integer" || type === "number") && isNumeric(text)) return Number(text);
    if (type === "array" && items && items.type !== "string")
      return text.split(",").map((item) => readText(item, items));
  }
  return text;
}
