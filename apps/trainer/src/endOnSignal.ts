import { exitCodes, signalNames } from "./exitCodes.ts";

/**
 * Ends the process at a signal as at its own end, so that what it holds is let go, until it has begun what is worth saving.
 *
 * @returns Gives signals back.
 */
export function endOnSignal(): () => void {
  const listeners = signalNames.map((name) => [name, () => process.exit(exitCodes[name])] as const);
  for (const [name, listener] of listeners) process.on(name, listener);
  return () => {
    for (const [name, listener] of listeners) process.off(name, listener);
  };
}
