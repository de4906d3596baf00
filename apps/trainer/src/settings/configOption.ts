import { resolve } from "node:path";
import { type Command, InvalidArgumentError, type Option } from "commander";
import { fromCaller } from "../callerFolder.ts";
import type { GivenValue } from "./given.ts";
import { nearest } from "./nearest.ts";
import { readConfigFile } from "./readConfigFile.ts";
import { showValue } from "./showValue.ts";

/** Gives a command `--config`, a YAML or JSON file of its flags; what stands on the command line comes over it. */
export function configOption(command: Command): Command {
  return command.option("--config <file>", "flags from a YAML or JSON file; others come over it", (file: string) => {
    const problems = [...readConfigFile(fromCaller(file))].flatMap(([name, given]) => {
      try {
        take(command, name, given);
        return [];
      } catch (error) {
        return [error];
      }
    });
    if (problems.length > 0) throw new AggregateError(problems);
    return file;
  });
}

/** Sets one flag, unless the command line does. */
function take(command: Command, name: string, { value, place, folder }: GivenValue): void {
  const options = command.options.filter((option) => !option.hidden && option.attributeName() !== "config");
  const option = options.find((each) => each.attributeName() === name);
  if (option === undefined) {
    const names = options.map((each) => each.attributeName());
    throw new Error(`${place}: no such setting${nearest(name, names)}`);
  }
  const read = valueOf(option, value, folder, `${place} ${showValue(value)}`);
  if (command.getOptionValueSource(name) !== "cli") command.setOptionValueWithSource(name, read, "config");
}

function valueOf(option: Option, value: unknown, folder: string, shown: string): unknown {
  if (option.isBoolean() || option.negate) {
    if (typeof value !== "boolean") throw new Error(`${shown}: expected true or false`);
    return value;
  }
  if (typeof value !== "string" && typeof value !== "number") throw new Error(`${shown}: expected text or a number`);
  const text = String(value);
  if (/<(dir|file)>/.test(option.flags) || /^\.{1,2}\//.test(text)) return resolve(folder, text);
  try {
    return option.parseArg ? option.parseArg(text, undefined) : text;
  } catch (error) {
    throw error instanceof InvalidArgumentError ? new Error(`${shown}: ${error.message}`) : error;
  }
}
