import { createLogUpdate } from "log-update";

/** Says what goes on during long work. */
export interface ProgressLine {
  readonly say: (line: string) => void;
  /** Takes the line away. */
  readonly end: () => void;
}

/** One line on standard error that changes on a terminal; in a pipe each line stays. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (stream.isTTY) {
    const update = createLogUpdate(stream);
    return { say: (line) => update(line.slice(0, stream.columns - 1)), end: () => update.clear() };
  }
  return { say: (line) => void stream.write(`${line}\n`), end: () => {} };
}
