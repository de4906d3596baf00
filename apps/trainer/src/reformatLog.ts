import { once } from "node:events";
import { attachLog, openOutput } from "@dflash/log-formatter";
import { EventEmitter } from "eventemitter3";
import { callerFolder, fromCaller } from "./callerFolder.ts";
import { logFileOf } from "./logFileOf.ts";
import { readRunLog } from "./readRunLog.ts";
import { refuseToReplace } from "./refuseToReplace.ts";

/** How a log is written again. */
export interface ReformatLogOptions {
  /** A built-in formatter, a file or a package. */
  format: string;
  /** Where to, as in `--log FORMAT:PLACE`. */
  out: string;
  /** Goes on with a log that is still being written, until Ctrl-C. */
  follow: boolean;
}

/** Writes a run's log in another format. Throws one line when the log can't be read, or the output not be written. */
export async function reformatLog(run: string, { format, out, follow }: ReformatLogOptions): Promise<void> {
  const path = logFileOf(run);
  if (fromCaller(out) === path) throw new Error(`--out ${out}: that is the log itself; choose another file`);
  if (format !== "tensorboard" && !/^(stdout|stderr|\d+)$/.test(out)) refuseToReplace("--out", fromCaller(out));
  const output = await openOutput(`${format}:${out}`, { cwd: callerFolder });
  const emitter = new EventEmitter();
  let failure: Error | undefined;
  let records = 0;
  const log = attachLog(emitter, [output], { onFault: ({ error }) => (failure ??= error) });
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  if (follow) process.once("SIGINT", stop);
  try {
    for await (const record of readRunLog(run, follow ? { follow: interrupt } : {})) {
      records++;
      emitter.emit(record.kind, record);
      if (failure !== undefined) break;
      // A training run drops a reader that doesn't keep up; here there is time to wait for it.
      if (process.stdout.writableNeedDrain) await once(process.stdout, "drain").catch(() => undefined);
    }
  } finally {
    process.off("SIGINT", stop);
    await log.close();
  }
  if (records === 0 && !follow) throw new Error(`${path}: holds no record yet; --follow waits for them`);
  // Whoever reads our output may have enough of it, like `head`.
  if (failure !== undefined && !isClosedPipe(failure))
    throw new Error(`log output ${format}:${out}: ${failure.message}`, { cause: failure });
}

function isClosedPipe(error: Error): boolean {
  return "code" in error && error.code === "EPIPE";
}
