import { exitCodes, type SignalName, signalNames } from "../exitCodes.ts";

/** A signal that the first Ctrl-C aborts. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** What a process ends with that was asked to: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP. */
  readonly exitCode: () => number;
  /** Gives Ctrl-C back to the process. */
  release(): void;
}

/** The shell in which a package manager runs a script. */
const shell = process.env["npm_lifecycle_event"] === undefined ? null : process.ppid;

/** Milliseconds between two looks for it. */
const lookEvery = 500;

/**
 * The first Ctrl-C, SIGTERM, as a scheduler sends it, or SIGHUP, of a terminal that closes, ends the run after its step, so that
 * everything gets saved; the second ends the process at once. A package manager that gets SIGTERM ends its shell and tells nobody
 * else: that is heard too.
 */
export function stopOnInterrupt(say: (line: string) => void): Interrupt {
  const controller = new AbortController();
  let exitCode: number = exitCodes.SIGINT;
  const onInterrupt = (name: SignalName): void => {
    exitCode = exitCodes[name];
    if (controller.signal.aborted) process.exit(exitCode);
    say("stopping after this step; Ctrl-C again ends at once");
    controller.abort();
  };
  for (const name of signalNames) process.on(name, onInterrupt);
  const looking = setInterval(() => {
    if (shell === null || process.ppid === shell) return;
    clearInterval(looking);
    if (!controller.signal.aborted) onInterrupt("SIGTERM");
  }, lookEvery).unref();
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    release: () => {
      clearInterval(looking);
      for (const name of signalNames) process.off(name, onInterrupt);
    },
  };
}
