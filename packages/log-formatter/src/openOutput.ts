import { hostname } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import type { LogOutput } from "./attachLog.ts";
import { loadFormatter, resolveFormat, type LoadFormatterOptions } from "./loadFormatter.ts";
import type { LogSink } from "./logSink.ts";
import { fileSink } from "./sinks/fileSink.ts";
import { metricsSink } from "./sinks/metricsSink.ts";
import { stderrSink, stdoutSink } from "./sinks/streamSink.ts";

/**
 * An output as a command line names it, `FORMAT:PLACE`: a formatter as `loadFormatter` takes it, and `stdout`, `stderr`, a port of
 * 127.0.0.1 or the path of a file: `ndjson:runs/x/log.ndjson`, `pretty:stderr`, `prometheus:9464`. For `tensorboard` the path may
 * be that of a folder, TensorBoard's own `--logdir`; the file gets the name that TensorBoard looks for. For `prometheus` a file's name
 * ends in `.prom`, which node_exporter's textfile collector looks for.
 * @throws Error in one line when the form is not that, the formatter can't be loaded, the file not be opened or the port not be had.
 */
export async function openOutput(output: string, options: LoadFormatterOptions = {}): Promise<LogOutput> {
  const [format, place] = partsOf(output);
  if (format === "" || place === "")
    throw new Error(`log output ${output}: expected FORMAT:PLACE, such as ndjson:log.ndjson or pretty:stderr`);
  const formatter = await loadFormatter(format, options);
  try {
    return [formatter, await openSink(format, place, options.cwd ?? ".")];
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
  return /^\d+$/.test(place);
}

async function openSink(format: string, place: string, cwd: string): Promise<LogSink> {
  if (place === "stdout") return stdoutSink();
  if (place === "stderr") return stderrSink();
  if (isPort(place)) return serve(Number(place));
  const path = resolve(cwd, place);
  if (format === "prometheus" && extname(path) !== ".prom")
    throw new Error("expected a port such as 9464, or a file that ends in .prom, for node_exporter");
  return fileSink(format === "tensorboard" ? eventFile(path) : path);
}

async function serve(port: number): Promise<LogSink> {
  if (port > 65_535) throw new Error("expected a port up to 65535");
  const sink = metricsSink({ port });
  try {
    await sink.url;
  } catch (error) {
    await sink.close?.();
    throw error;
  }
  return sink;
}

/** TensorBoard passes over files without `tfevents` in their names, and reads those of a folder in the order of the seconds. */
function eventFile(path: string): string {
  if (basename(path).includes("tfevents")) return path;
  return join(path, `events.out.tfevents.${Math.floor(Date.now() / 1000)}.${hostname()}.${process.pid}`);
}
