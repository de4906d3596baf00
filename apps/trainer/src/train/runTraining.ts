import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saveDrafter } from "@dflash/drafter";
import {
  attachLog,
  createSummary,
  type LogSink,
  loadFormatter,
  ndjson,
  fileSink,
  stdoutSink,
} from "@dflash/log-formatter";
import { callerFolder, forCaller } from "../callerFolder.ts";
import { liveSink } from "./liveSink.ts";
import { runTotals } from "./runTotals.ts";
import { stopOnInterrupt } from "./stopOnInterrupt.ts";
import { resolveTrainConfig, type TrainConfig, type TrainFlags } from "./trainConfig.ts";
import { wire, type WiredRun } from "./wire.ts";

/** Trains as the flags say and leaves config, log, drafter and summary in the run's folder. */
export async function runTraining(flags: TrainFlags): Promise<void> {
  const config = resolveTrainConfig(flags);
  const formatter = await loadFormatter(config.logFormat, { cwd: callerFolder });
  const run = await wire(config);
  await mkdir(config.out, { recursive: true });
  await writeFile(join(config.out, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  // A pipe that wants records must get nothing else; a reader gets everything in one place.
  const say = config.logFormat === "pretty" ? console.log : console.error;
  for (const line of introduction(config, run)) say(line);

  const log = attachLog(run.log, [
    [formatter, screen(config)],
    [ndjson, fileSink(join(config.out, "log.ndjson"))],
  ]);
  const summary = createSummary();
  const totals = runTotals();
  run.log.on("header", (header) => totals.begin(header));
  run.log.on("step", (record) => {
    summary.add(record);
    totals.add(record);
  });

  const interrupt = stopOnInterrupt(say);
  try {
    const { reason, steps, skipped } = await run.start(interrupt.signal).finished;
    const record = summary.record();
    if (record !== null) run.log.emit("summary", record);
    await log.close();
    await saveDrafter(join(config.out, "drafter"), run.drafter);
    const result = {
      reason,
      steps,
      skipped,
      engine: run.engine.name,
      ...totals.result(),
      sections: record?.sections ?? {},
    };
    await writeFile(join(config.out, "summary.json"), `${JSON.stringify(result, null, 2)}\n`);
    for (const line of totals.lines()) say(line);
    say(`drafter, log and summary are in ${forCaller(config.out)}`);
    if (reason === "signal") process.exitCode = 130;
  } finally {
    await log.close();
    interrupt.release();
    await run.dispose();
  }
}

/** A terminal gets a live view of the pretty lines; a pipe or another format gets the lines themselves. */
function screen(config: TrainConfig): LogSink {
  const sink = stdoutSink();
  const live = process.stdout.isTTY && sink.target !== undefined && config.logFormat === "pretty";
  return live ? liveSink(process.stdout, sink.target, config.steps) : sink;
}

function introduction(config: TrainConfig, { engine, drafter, records }: WiredRun): string[] {
  const parameters = [...drafter.parameters.values()].reduce(
    (sum, { shape }) => sum + shape.reduce((product, extent) => product * extent, 1),
    0,
  );
  const { layers, blockSize, targetLayers, targetLayerIds } = drafter.config;
  return [
    `engine   ${engine.description}`,
    `target   ${forCaller(config.target)}: ${targetLayers} layers, of which ${targetLayerIds.join(", ")} are captured`,
    `drafter  ${layers} layers, blocks of ${blockSize}, ${(parameters / 1e6).toFixed(2)} M parameters`,
    `data     ${forCaller(config.data)}: ${records} records, ${config.rows} a step with up to ${config.anchors} anchors each`,
  ];
}
