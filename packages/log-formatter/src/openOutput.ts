import { hostname } from "node:os";
import { basename, join, resolve } from "node:path";
import type { LogOutput } from "./attachLog.ts";
import { loadFormatter, type LoadFormatterOptions } from "./loadFormatter.ts";
import type { LogSink } from "./logSink.ts";
import { fileSink } from "./sinks/fileSink.ts";
import { metricsSink } from "./sinks/metricsSink.ts";
import { stderrSink, stdoutSink } from "./sinks/streamSink.ts";

/**
 * An output as a command line names it, `FORMAT:PLACE`: a formatter as `loadFormatter` takes it, and `stdout`, `stderr`, a port of
 * 127.0.0.1 or the path of a file: `ndjson:runs/x/log.ndjson`, `pretty:stderr`, `prometheus:9464`. For `tensorboard` the path may
 * be that of a folder, TensorBoard's own `--logdir`; the file gets the name that TensorBoard looks for.
 * @throws Error in one line when the form is not that, the formatter can't be loaded or the file not be opened.
 */
export async function openOutput(output: string, options: LoadFormatterOptions = {}): Promise<LogOutput> {
  const colon = output.lastIndexOf(":");
  const [format, place] = [output.slice(0, colon), output.slice(colon + 1)];
  if (colon < 1 || place === "")
    throw new Error(`log output ${output}: expected FORMAT:PLACE, such as ndjson:log.ndjson or pretty:stderr`);
  const formatter = await loadFormatter(format, options);
  try {
    return [formatter, openSink(format, place, options.cwd ?? ".")];
  } catch (error) {
    throw new Error(`log output ${output}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function openSink(format: string, place: string, cwd: string): LogSink {
  if (place === "stdout") return stdoutSink();
  if (place === "stderr") return stderrSink();
  if (/^\d{1,5}$/.test(place)) return metricsSink({ port: Number(place) });
  const path = resolve(cwd, place);
  return fileSink(format === "tensorboard" ? eventFile(path) : path);
}

/** TensorBoard passes over files without `tfevents` in their names, and reads those of a folder in the order of the seconds. */
function eventFile(path: string): string {
  if (basename(path).includes("tfevents")) return path;
  return join(path, `events.out.tfevents.${Math.floor(Date.now() / 1000)}.${hostname()}.${process.pid}`);
}
