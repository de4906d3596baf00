import type { z } from "zod";

/** One setting of a command: what flags, the config file, its schema, the defaults, the help and the validation say about it. */
export interface Field {
  /** One line for the help and the schema. */
  readonly about: string;
  /** Which values there are; null among them where nothing may be said. */
  readonly schema: z.ZodType;
  /** The value unless said otherwise. */
  readonly standard: string | number | boolean | null | readonly string[];
  /** The default in words, where the value says little. */
  readonly unset?: string;
  /** Name of the flag's value in the help, in place of one that the schema suggests. */
  readonly placeholder?: string;
  /** Makes a value independent of the folder it was written for, such as a relative path; of a list each item. */
  readonly resolve?: (value: string, folder: string) => string;
  /** May change when a run goes on, since the weights that come out don't depend on it. */
  readonly decidesNothing?: true;
}

/** Settings by group, in the order of the help, and name. */
export type FieldGroups = Readonly<Record<string, Readonly<Record<string, Field>>>>;

/** Settings by name. */
export type Fields = Readonly<Record<string, Field>>;

/** The settings' values. */
export type Values<F extends Fields> = { -readonly [Name in keyof F]: z.output<F[Name]["schema"]> };

/** A setting as a flag: `--block-size` for `blockSize`. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
