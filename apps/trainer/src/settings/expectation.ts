import { alternatives, type ValueSchema } from "./valueSchema.ts";

/** The values that a schema allows, in words: `a whole number from 1 to 64`. */
export function expectation(schema: ValueSchema): string {
  const words = alternatives(schema).map(oneOf);
  return `${words.slice(0, -1).join(", ")}${words.length > 1 ? " or " : ""}${words.at(-1)}`;
}

function oneOf(schema: ValueSchema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "array") return `a list, each item ${expectation(schema.items ?? {})}`;
  if (schema.type === "integer") return `a whole number ${range(schema)}`;
  if (schema.type === "number") return `a number ${range(schema)}`;
  return "text";
}

const range = ({ minimum, exclusiveMinimum, maximum }: ValueSchema): string =>
  exclusiveMinimum === undefined ? `from ${minimum} to ${maximum}` : `above ${exclusiveMinimum}, at most ${maximum}`;
