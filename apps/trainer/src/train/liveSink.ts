import type { LogSink, LogTarget } from "@dflash/log-formatter";
import { createLogUpdate } from "log-update";
import { progressBar } from "./progressBar.ts";

/** Steps whose pace the time left is taken from. */
const paceWindow = 32;

/**
 * A terminal's view of a run: a progress bar with the newest step's line under it, redrawn in place. What isn't a step
 * scrolls away above them.
 */
export function liveSink(stream: NodeJS.WriteStream, target: LogTarget, total: number, doneBefore: number): LogSink {
  const update = createLogUpdate(stream);
  const ends: number[] = [];
  let done = doneBefore;
  let below = "";

  const draw = (): void => {
    const [first = 0, last = first] = [ends[0], ends.at(-1)];
    const pace = ends.length > 1 ? (last - first) / (ends.length - 1) : null;
    const remainingMs = pace === null ? null : pace * (total - done);
    update(progressBar({ done, total, remainingMs }, stream.columns) + below);
  };
  // Before the first step: Unicode's tables, which the first bar needs, cost many milliseconds that would be a step's otherwise.
  draw();

  return {
    name: "the terminal",
    target,
    write(chunk, kind) {
      const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      if (kind === "step") {
        done++;
        ends.push(performance.now());
        if (ends.length > paceWindow) ends.shift();
        below = `\n${text.trimEnd()}`;
        draw();
        return;
      }
      if (kind === "summary" || kind === "close") update.done();
      else update.clear();
      stream.write(text);
      if (kind !== "summary" && kind !== "close") draw();
    },
    close() {
      update.done();
    },
  };
}
