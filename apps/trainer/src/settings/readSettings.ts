import { expectation } from "./expectation.ts";
import type { Field, Fields, Values } from "./field.ts";
import type { Given } from "./given.ts";
import { nearest } from "./nearest.ts";
import { isNumeric, showValue } from "./showValue.ts";
import { schemaAt, valueSchema } from "./valueSchema.ts";

/** What settings must be together. */
export interface Rule<F extends Fields> {
  /** Those that it looks at; it is not asked while one of them is wrong in itself. */
  readonly of: readonly (keyof F & string)[];
  /** The one to be named as wrong, and why; nothing when all is well. */
  readonly check: (values: Values<F>) => string | undefined;
}

/** Settings and how they came about. */
export interface ReadSettings<F extends Fields> {
  /** Given values over defaults. */
  readonly values: Values<F>;
  /** Only what was given. */
  readonly given: Partial<Values<F>>;
}

/**
 * Given values over defaults, all judged at once. Throws an `AggregateError` with one line for each that is wrong; the
 * first setting of a rule is the one that is named.
 */
export function readSettings<F extends Fields>(
  fields: F,
  given: Given,
  rules: readonly Rule<F>[] = [],
): ReadSettings<F> {
  const problems: string[] = [];
  const wrong = new Set<string>();
  const read = new Map<string, unknown>();
  for (const [name, { value, place, folder }] of given) {
    if (!Object.hasOwn(fields, name)) {
      problems.push(`${place}: no such setting${nearest(name, Object.keys(fields))}`);
      continue;
    }
    const field = fields[name]!;
    const { success, data, error } = field.schema.safeParse(value);
    if (success) read.set(name, resolved(data, field, folder));
    else {
      wrong.add(name);
      const [issue] = error.issues;
      const inside = issue?.path ?? [];
      const at = inside.map((key) => `[${String(key)}]`).join("");
      const part = partAt(value, inside);
      const expected = `expected ${expectation(schemaAt(valueSchema(field), inside))}`;
      problems.push(`${place}${at} ${showValue(part)}: ${asText(part)}${expected}`);
    }
  }
  // The fields' schemas have just judged what was given, and their own defaults are checked by the tests.
  // oxlint-disable-next-line no-unsafe-type-assertion
  const onlyGiven = Object.fromEntries(read) as Partial<Values<F>>;
  // oxlint-disable-next-line no-unsafe-type-assertion
  const values = { ...defaultsOf(fields), ...onlyGiven } as Values<F>;
  for (const { of, check } of rules) {
    const problem = of.some((name) => wrong.has(name)) ? undefined : check(values);
    if (problem === undefined) continue;
    const blamed = of.find((name) => given.has(name)) ?? of[0]!;
    problems.push(`${given.get(blamed)?.place ?? blamed} ${showValue(values[blamed])}: ${problem}`);
  }
  if (problems.length > 0)
    throw new AggregateError(
      problems.map((problem) => new Error(problem)),
      problems.join("\n"),
    );
  return { values, given: onlyGiven };
}

/** A value that no longer depends on the folder it was written for. */
function resolved(value: unknown, { resolve }: Field, folder: string): unknown {
  if (!resolve) return value;
  if (Array.isArray(value))
    return value.map((item: unknown) => (typeof item === "string" ? resolve(item, folder) : item));
  return typeof value === "string" ? resolve(value, folder) : value;
}

/** All defaults. */
export const defaultsOf = <F extends Fields>(fields: F): Values<F> =>
  // oxlint-disable-next-line no-unsafe-type-assertion -- the tests check each against its schema
  Object.fromEntries(Object.entries(fields).map(([name, { standard }]) => [name, standard])) as Values<F>;

/** A number in quotes is text to YAML and JSON, which is hard to see in a message. */
const asText = (value: unknown): string =>
  typeof value === "string" && isNumeric(value) ? "is text, leave out the quotes; " : "";

function partAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((part, key) => (Array.isArray(part) ? part[Number(key)] : part), value);
}
