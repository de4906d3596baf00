import { forCaller } from "../callerFolder.ts";

/**
 * Should the process end in the middle of a run, as by `process.exit` in a formatter, says so and how to go on, and ends it as a
 * failure.
 *
 * @returns To be called when the run is over.
 */
export function tellEarlyEnd(out: string): () => void {
  const tell = (code: number): void => {
    console.error(
      `dflash: the process was ended in the middle of the run; go on with: pnpm dflash train --resume ${forCaller(out)}`,
    );
    if (code === 0) process.exitCode = 1;
  };
  process.on("exit", tell);
  return () => void process.off("exit", tell);
}
