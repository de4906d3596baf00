import type { LogChunk, LogForm, LogTarget } from "../logFormatter.ts";
import type { LogSink } from "../logSink.ts";

/** What may wait for the reader of a pipe; more means that nobody reads. */
const waitingLimit = 1 << 20;
/** How long `close` waits for a reader to take the rest. */
const closeMs = 1000;

/** The process's standard output: colour and width of its terminal, plain in a pipe. */
export function stdoutSink(): LogSink {
  return streamSink("stdout", process.stdout);
}

/** The process's standard error, likewise. */
export function stderrSink(): LogSink {
  return streamSink("stderr", process.stderr);
}

/** Colour and width as the stream has them; NO_COLOR and FORCE_COLOR as at no-color.org and force-color.org. */
export function terminalTarget(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): LogTarget {
  return {
    color: wantsColor(stream.isTTY, env),
    get columns() {
      // A terminal that knows no width has 0.
      return stream.isTTY && stream.columns > 0 ? stream.columns : null;
    },
  };
}

function wantsColor(isTerminal: boolean, { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  return isTerminal && TERM !== "dumb";
}

function streamSink(name: string, stream: NodeJS.WriteStream): LogSink {
  let failure: Error | undefined;
  let form: LogForm = "lines";
  let page: LogChunk = "";
  // A pipe whose reader has gone reports here; unheard, that would end the process.
  const fail = (error: Error): void => {
    failure = error;
  };
  stream.on("error", fail);

  const send = (chunk: LogChunk): void => {
    if (failure !== undefined) throw failure;
    if (stream.writableLength > waitingLimit)
      throw new Error(`${name} is not being read: ${stream.writableLength} bytes wait`);
    stream.write(typeof chunk === "string" ? chunk : Uint8Array.from(chunk));
  };

  return {
    name,
    target: terminalTarget(stream),
    open(given) {
      form = given;
    },
    write(chunk) {
      if (form !== "page") send(chunk);
      else page = typeof chunk === "string" ? chunk : Uint8Array.from(chunk);
    },
    async close() {
      if (page.length > 0) send(page);
      if (failure === undefined && stream.writableLength > 0) await drained(stream);
      if (failure !== undefined) throw failure;
    },
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const timeout = setTimeout(resolve, closeMs);
    stream.write("", () => {
      clearTimeout(timeout);
      resolve();
    });
  });
}
