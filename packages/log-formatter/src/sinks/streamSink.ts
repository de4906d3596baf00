import type { LogTarget } from "../logFormatter.ts";
import type { LogSink } from "../logSink.ts";

/** What may wait for a reader of the stream; more means that nobody reads. */
const waitingLimit = 4 << 20;
/** How long `close` waits for what is still in the pipe. */
const closeMs = 1000;

/** The process's standard output: colour and width of its terminal, plain in a pipe. */
export function stdoutSink(): LogSink {
  return streamSink("stdout", process.stdout);
}

/** The process's standard error. */
export function stderrSink(): LogSink {
  return streamSink("stderr", process.stderr);
}

function streamSink(name: string, stream: NodeJS.WriteStream): LogSink {
  let failure: Error | undefined;
  // A pipe closed by its reader reports here; unheard, it would end the process.
  const fail = (error: Error): void => {
    failure = error;
  };
  stream.on("error", fail);
  return {
    name,
    target: terminal(stream),
    write(chunk) {
      if (failure !== undefined) throw failure;
      if (stream.writableLength > waitingLimit) {
        throw new Error(`${name} is not read: ${stream.writableLength} bytes are waiting`);
      }
      stream.write(typeof chunk === "string" ? chunk : Uint8Array.from(chunk));
    },
    async close() {
      if (failure === undefined && stream.writableLength > 0) {
        await new Promise<void>((resolve) => {
          const timeout = setTimeout(resolve, closeMs);
          stream.write("", () => {
            clearTimeout(timeout);
            resolve();
          });
        });
      }
      if (failure !== undefined) throw failure;
    },
  };
}

/** NO_COLOR and FORCE_COLOR as at no-color.org and force-color.org. */
function terminal(stream: NodeJS.WriteStream): LogTarget {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const isTerminal = stream.isTTY;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  const off = (NO_COLOR !== undefined && NO_COLOR !== "") || FORCE_COLOR === "0" || FORCE_COLOR === "false";
  return {
    color: forced || (isTerminal && !off && TERM !== "dumb"),
    get columns() {
      return isTerminal ? stream.columns : null;
    },
  };
}
