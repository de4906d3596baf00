/** A signal that the first Ctrl-C aborts. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** What a process ends with that was asked to: 130 after Ctrl-C, 143 after SIGTERM. */
  readonly exitCode: () => number;
  /** Gives Ctrl-C back to the process. */
  release(): void;
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The first Ctrl-C, or SIGTERM, as a scheduler sends it, ends the run after its step, so that everything gets saved; the
 * second ends the process at once.
 */
export function stopOnInterrupt(say: (line: string) => void): Interrupt {
  const controller = new AbortController();
  let exitCode: number = exitCodes.SIGINT;
  const onInterrupt = (name: keyof typeof exitCodes): void => {
    exitCode = exitCodes[name];
    if (controller.signal.aborted) process.exit(exitCode);
    say("stopping after this step; Ctrl-C again ends at once");
    controller.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, onInterrupt);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    release: () => {
      for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, onInterrupt);
    },
  };
}
