import { inspect } from "node:util";
import { interruptionCode } from "./interruption.ts";

/**
 * Ends a command that failed: one line on stderr for each thing that is wrong, exit code 1. The stack is for developers,
 * who ask for it with DFLASH_DEBUG=1.
 */
export function reportFailure(error: unknown): void {
  const interrupted = interruptionCode(error);
  if (interrupted !== undefined) {
    process.exitCode = interrupted;
    return;
  }
  for (const each of error instanceof AggregateError && error.errors.length > 0 ? error.errors : [error]) {
    const message = each instanceof Error ? each.message : String(each);
    console.error(`dflash: ${message.split("\n", 1)[0]}`);
  }
  // With the causes, each with its stack.
  if (process.env["DFLASH_DEBUG"] === "1") console.error(inspect(error));
  process.exitCode = 1;
}
