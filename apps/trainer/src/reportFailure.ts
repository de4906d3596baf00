/**
 * Ends a command that failed: one line on stderr, exit code 1. The stack is for developers, who ask for it with
 * DFLASH_DEBUG=1.
 */
export function reportFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  console.error(`dflash: ${message.split("\n", 1)[0]}`);
  if (process.env["DFLASH_DEBUG"] === "1" && error instanceof Error) console.error(error.stack);
  process.exitCode = 1;
}
