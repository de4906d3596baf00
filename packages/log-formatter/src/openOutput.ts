import { hostname } from "node:os";
import { basename, join, resolve } from "node:path";
import type { LogOutput } from "./attachLog.ts";
import { loadFormatter, resolveFormat, type LoadFormatterOptions } from "./loadFormatter.ts";
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
  const [format, place] = partsOf(output);
  if (format === "" || place === "")
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

/** An output that means the same in every folder: its files by their full paths. One of another form stays as it is. */
export function resolveOutput(output: string, folder: string): string {
  const [format, place] = partsOf(output);
  if (format === "" || place === "") return output;
  return `${resolveFormat(format, folder)}:${isFile(place) ? resolve(folder, place) : place}`;
}

/** Format and place; empty where there is none. */
function partsOf(output: string): [format: string, place: string] {
  const colon = output.lastIndexOf(":");
  return [output.slice(0, Math.max(0, colon)), output.slice(colon + 1)];
}

/** Whether a place is no stream and no port. */
function isFile(place: string): boolean {
  return place !== "stdout" && place !== "stderr" && !isPort(place);
}

function isPort(place: string): boolean {
  return /^\d{1,5}$/.test(place);
}

function openSink(format: string, place: string, cwd: string): LogSink {
  if (place === "stdout") return stdoutSink();
  if (place === "stderr") return stderrSink();
  if (isPort(place)) return metricsSink({ port: Number(place) });
  const path = resolve(cwd, place);
  return fileSink(format === "tensorboard" ? eventFile(path) : path);
}

/** TensorBoard passes over files without `tfevents` in their names, and reads those of a folder in the order of the seconds. */
function eventFile(path: string): string {
  if (basename(path).includes("tfevents")) return path;
  return join(path, `events.out.tfevents.${Math.floor(Date.now() / 1000)}.${hostname()}.${process.pid}`);
}
