import { z } from "zod";
import type { Field } from "./field.ts";

/** The parts of JSON Schema that settings use. */
export interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly ValueSchema[];
  readonly items?: ValueSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  /** In words, where the rest says too little. */
  readonly title?: string;
  readonly [other: string]: unknown;
}

/** A setting's values as a JSON Schema. */
export function valueSchema({ schema }: Pick<Field, "schema">): ValueSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  // oxlint-disable-next-line no-unsafe-type-assertion -- settings use no other parts
  return rest as ValueSchema;
}

/** The alternatives that a schema leaves, `null` aside. */
export const alternatives = (schema: ValueSchema): ValueSchema[] =>
  schema.anyOf ? schema.anyOf.flatMap(alternatives) : schema.type === "null" ? [] : [schema];

/** The schema of what lies in a value at a path of list places. */
export const schemaAt = (schema: ValueSchema, path: readonly PropertyKey[]): ValueSchema =>
  path.reduce<ValueSchema>((part) => alternatives(part).find(({ items }) => items)?.items ?? part, schema);
