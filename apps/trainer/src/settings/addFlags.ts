import { type Command, Option } from "commander";
import { type Field, type FieldGroups, flagOf } from "./field.ts";
import { readText } from "./readText.ts";
import { alternatives, type ValueSchema, valueSchema } from "./valueSchema.ts";

/** Gives a command a flag for each setting. Values are read but not judged: that happens once, with the config file's. */
export function addFlags(command: Command, groups: FieldGroups): void {
  for (const [group, fields] of Object.entries(groups)) {
    for (const [name, field] of Object.entries(fields)) {
      const schema = valueSchema(field);
      const option = new Option(flagWith(name, schema, field.placeholder, field.standard), helpOf(field, schema));
      if (isTextList(schema))
        option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
      else if (schema.type !== "boolean") option.argParser((text: string) => readText(text, schema));
      command.addOption(option.helpGroup(`${group}:`));
    }
  }
}

/** Lists of text come from a flag that is repeated. */
const isTextList = (schema: ValueSchema): boolean =>
  alternatives(schema).some(({ type, items }) => type === "array" && items?.type === "string");

function flagWith(
  name: string,
  schema: ValueSchema,
  placeholder: string | undefined,
  standard: Field["standard"],
): string {
  if (schema.type === "boolean") return flagOf(name).replace(/^--/, standard === true ? "--no-" : "--");
  const [{ type, enum: choices } = {}] = alternatives(schema);
  const suggested = choices ? "name" : type === "integer" ? "n" : type === "number" ? "x" : "text";
  return `${flagOf(name)} <${placeholder ?? suggested}>`;
}

function helpOf({ about, unset, standard }: Field, schema: ValueSchema): string {
  if (schema.type === "boolean") return standard === true ? `don't ${about}` : about;
  const choices = alternatives(schema).flatMap(({ enum: names }) => names ?? []);
  const listed = choices.length > 0 ? `: ${choices.join(", ")}` : "";
  const shown = unset ?? (standard === null ? undefined : String(standard));
  return `${about}${isTextList(schema) ? " (repeatable)" : ""}${listed}${shown === undefined ? "" : ` (default: ${shown})`}`;
}
