import type { Command } from "commander";
import { callerFolder } from "../callerFolder.ts";
import { flagOf } from "./field.ts";
import type { Given } from "./given.ts";

/** What a command line gives, defaults and `others`, which are no settings, aside. */
export function givenFlags(command: Command, others: readonly string[]): Given {
  const flags = Object.entries(command.opts<Record<string, unknown>>());
  const given = flags.filter(([name]) => command.getOptionValueSource(name) === "cli" && !others.includes(name));
  return new Map(given.map(([name, value]) => [name, { value, place: flagOf(name), folder: callerFolder }]));
}
