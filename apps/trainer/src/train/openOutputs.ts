import { join } from "node:path";
import {
  chrome,
  fileSink,
  loadFormatter,
  type LogOutput,
  type LogSink,
  ndjson,
  openOutput,
  stdoutSink,
} from "@dflash/log-formatter";
import { callerFolder, forCaller, fromCaller } from "../callerFolder.ts";
import { dashboardSink } from "../report/dashboardSink.ts";
import { liveSink } from "./liveSink.ts";
import { onlySteps } from "./onlySteps.ts";
import type { RunStart } from "./resumeRun.ts";
import { stepRange } from "./stepRange.ts";
import type { TrainConfig } from "./trainConfig.ts";

/** Where a run's records and words go. */
export interface RunOutputs {
  /** Prints what is no record. */
  say: (line: string) => void;
  /** Opens the run's own log in its folder, which must be there, and the screen; with what `--log` names it is all of them. */
  outputs: () => LogOutput[];
  /** Address of the dashboard; null without one. */
  dashboard: string | null;
  /** Closes what is open already, where nothing comes of the run. */
  close: () => Promise<void>;
}

/**
 * Opens what `--log` names. The run's own `log.ndjson` is always written, and `--log-format` to standard output unless an
 * output takes standard output or standard error for itself. Throws one line when an output can't be had.
 */
export async function openOutputs({ config, stepsBefore }: RunStart): Promise<RunOutputs> {
  const cwd = callerFolder;
  const own = join(config.out, "log.ndjson");
  const given: LogOutput[] = [];
  for (const output of config.log) {
    const place = placeOf(output);
    if (fromCaller(place) !== own) given.push(await openOutput(output, { cwd }));
    else if (output !== `ndjson:${place}`)
      throw new Error(
        `--log ${output.slice(0, -place.length)}${forCaller(own)}: the run's own log is written there, as ndjson; name another file`,
      );
  }
  const taken = config.log.some((output) => ["stdout", "stderr"].includes(placeOf(output)));
  const formatter = await loadFormatter(config.logFormat, { cwd });
  const dashboard =
    config.dashboard === null ? null : dashboardSink({ port: config.dashboard, earlier: own, stepsBefore });
  if (dashboard) given.unshift([ndjson, dashboard]);
  return {
    // A pipe that wants records must get nothing else; a reader gets everything in one place.
    say: config.logFormat === "pretty" && !taken ? console.log : console.error,
    dashboard: (await dashboard?.url) ?? null,
    close: async () => {
      for (const [, sink] of given) await sink.close?.();
    },
    // The run's own log first: a formatter of the user's own could change the record.
    outputs: () => [
      [ndjson, fileSink(own)],
      ...(taken ? [] : [[formatter, screen(config, stepsBefore)] as const]),
      ...given,
      ...traceOf(config),
    ],
  };
}

/** The trace of some steps, when it is asked for. */
function traceOf({ trace, out }: TrainConfig): LogOutput[] {
  const range = trace === null ? null : stepRange(trace);
  return range ? [[onlySteps(chrome(), range), fileSink(join(out, "trace.json"))]] : [];
}

function placeOf(output: string): string {
  return output.slice(output.lastIndexOf(":") + 1);
}

/** A terminal of a known width gets a live view of the pretty lines; a pipe or another format gets the lines themselves. */
function screen({ logFormat, steps }: TrainConfig, stepsBefore: number): LogSink {
  const sink = stdoutSink();
  const live =
    process.stdout.isTTY && process.stdout.columns > 0 && sink.target !== undefined && logFormat === "pretty";
  return live ? liveSink(process.stdout, sink.target, steps, stepsBefore) : sink;
}
