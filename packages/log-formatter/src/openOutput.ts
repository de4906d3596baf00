import { resolve } from "node:path";
import type { LogOutput } from "./attachLog.ts";
import { loadFormatter, type LoadFormatterOptions } from "./loadFormatter.ts";
import type { LogSink } from "./logSink.ts";
import { fileSink } from "./sinks/fileSink.ts";
import { metricsSink } from "./sinks/metricsSink.ts";
import { stderrSink, stdoutSink } from "./sinks/streamSink.ts";

/**
 * An output as a command line names it, `FORMAT:PLACE`: a formatter as `loadFormatter` takes it, and `stdout`, `stderr`,
 * `metrics=PORT` or the path of a file: `ndjson:runs/x/log.ndjson`, `pretty:stderr`, `prometheus:metrics=9464`.
 * @throws Error in one line when the form is not that, the formatter can't be loaded or the file not be opened.
 */
export async function openOutput(output: string, options: LoadFormatterOptions = {}): Promise<LogOutput> {
  const colon = output.lastIndexOf(":");
  const [format, place] = [output.slice(0, colon), output.slice(colon + 1)];
  if (colon < 1 || place === "")
    throw new Error(`log output ${output}: expected FORMAT:PLACE, such as ndjson:log.ndjson or pretty:stderr`);
  return [await loadFormatter(format, options), openSink(place, options.cwd ?? ".")];
}

function openSink(place: string, cwd: string): LogSink {
  if (place === "stdout") return stdoutSink();
  if (place === "stderr") return stderrSink();
  const port = /^metrics=(\d{1,5})$/.exec(place)?.[1];
  return port === undefined ? fileSink(resolve(cwd, place)) : metricsSink({ port: Number(port) });
}
