/** A signal that the first Ctrl-C aborts. */
export interface Interrupt {
  signal: AbortSignal;
  /** Gives Ctrl-C back to the process. */
  release(): void;
}

/** The first Ctrl-C ends the run after its step, so that everything gets saved; the second ends the process at once. */
export function stopOnInterrupt(say: (line: string) => void): Interrupt {
  const controller = new AbortController();
  const onInterrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    say("stopping after this step; Ctrl-C again ends at once");
    controller.abort();
  };
  process.on("SIGINT", onInterrupt);
  return { signal: controller.signal, release: () => process.off("SIGINT", onInterrupt) };
}
