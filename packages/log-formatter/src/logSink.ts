import type { LogChunk, LogForm, LogTarget } from "./logFormatter.ts";
import type { LogRecord } from "./record.ts";

/** Where formatted records go. Any of its methods may throw: `attachLog` then switches the output off. */
export interface LogSink {
  /** For messages, such as `stderr` or a path. */
  readonly name: string;
  /** Missing: no colour, lines of any length. */
  readonly target?: LogTarget;
  /** Called once before the first chunk; `preamble` gives what a further file must begin with. */
  open?(form: LogForm, preamble: () => LogChunk): void;
  /** Must not block for long, and must copy bytes that it keeps. `kind` says which record the chunk came from. */
  write(chunk: LogChunk, kind: LogRecord["kind"] | "close"): void;
  /** Waits for what is still to be written, within reason, and lets go of the place. */
  close?(): void | Promise<void>;
}
