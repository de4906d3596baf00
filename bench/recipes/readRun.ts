import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CausalLMConfig } from "@dflash/causal-lm";
import { targetLayerIds } from "@dflash/drafter";
import { readLog, type StepRecord } from "@dflash/log-formatter";
import { targetFlops } from "./targetFlops.ts";

/** Where a run was after a step, from its beginning on. */
export interface Point {
  readonly step: number;
  /** Of the target and the drafter, in units of 10¹². */
  readonly teraFlops: number;
  /**
   * CPU time of the whole process, evaluations and what came before the second step left out. Null without a log of CPU times, and
   * once it has ended: a format that takes long, as any may where other work keeps it waiting, is switched off.
   */
  readonly cpuSeconds: number | null;
  /** Wall time of the steps, evaluations left out. */
  readonly wallSeconds: number;
}

/** A mean with its standard error. */
export interface Measure {
  readonly mean: number;
  readonly error: number;
}

/** What training by a recipe came to. */
export interface Run {
  /** Acceptance lengths by speculative decoding of held-out prompts: the run's own, or that of `dflash eval --json` beside it. */
  readonly real: readonly (Point & Measure)[];
  /** The joint simulated acceptance length of each batch before the step learns from it: means of tenths of the run. */
  readonly simulated: readonly (Point & Measure)[];
  /** The simulated length of the last fifth of the run. */
  readonly lastFifth: Measure;
  /** The end. */
  readonly end: Point;
}

interface RunConfig {
  readonly rows: number;
  readonly features: number;
  readonly loss: unknown;
}

interface CpuTime {
  readonly step: number;
  readonly cpuSeconds: number;
}

const parts = ["drafter/forward", "drafter/loss", "drafter/backward"];

/** Reads a whole run: its log.ndjson, and cpu.ndjson and eval.json where they are. */
export async function readRun(folder: string, target: CausalLMConfig): Promise<Run> {
  const cpu = readCpuSeconds(join(folder, "cpu.ndjson"));
  const steps: StepRecord[] = [];
  const evaluations: { step: number; length: Measure }[] = [];
  let config: RunConfig | undefined;
  for await (const record of readLog(join(folder, "log.ndjson"))) {
    if (record.kind === "header") config = runConfig(record.config);
    if (record.kind === "step") steps.push(record);
    if (record.kind === "event" && record.name === "tau")
      evaluations.push({ step: record.step, length: ofHistogram(record.data) });
  }
  if (config === undefined) throw new Error(`${folder}/log.ndjson has no header, expected a run's log`);
  const own = join(folder, "eval.json");
  if (existsSync(own)) {
    const { acceptance }: { acceptance: unknown } = JSON.parse(readFileSync(own, "utf8"));
    evaluations.splice(0, Infinity, { step: steps.length, length: ofHistogram(acceptance) });
  }
  const { rows, features, loss } = config;
  const layers = loss === "soft-target" ? target.layers : Math.max(...targetLayerIds(target.layers, features)) + 1;

  let flops = 0;
  let wallSeconds = 0;
  let cpuSeconds: number | null = 0;
  const points = steps.map(({ step, ms, sections, metrics }, i): Point => {
    const evaluated = (sections["eval"]?.ms ?? 0) / ms;
    const [before, after] = [cpu.get(i === 0 ? step : step - 1), cpu.get(step)];
    if (cpuSeconds === null || before === undefined || after === undefined) cpuSeconds = null;
    else cpuSeconds += (after - before) * (1 - evaluated);
    wallSeconds += (ms * (1 - evaluated)) / 1e3;
    flops += parts.reduce((sum, part) => sum + sections[part]!.flops!, 0);
    flops += targetFlops(target, { tokens: metrics["tokens"]!, rows, layers });
    return { step, teraFlops: flops / 1e12, cpuSeconds, wallSeconds };
  });
  const tenth = Math.ceil(steps.length / 10);
  return {
    end: points.at(-1)!,
    real: evaluations.map(({ step, length }) => ({ ...points[step - 1]!, ...length })),
    simulated: Array.from({ length: Math.ceil(steps.length / tenth) }, (_, i) => {
      const some = steps.slice(i * tenth, (i + 1) * tenth);
      return { ...points[some.at(-1)!.step - 1]!, ...simulated(some) };
    }),
    lastFifth: simulated(steps.slice(-2 * tenth)),
  };
}

function runConfig(config: unknown): RunConfig {
  if (typeof config !== "object" || config === null || !("rows" in config && "features" in config && "loss" in config))
    throw new Error(`a log's header has the config ${JSON.stringify(config)}, expected a training run's`);
  return { rows: Number(config.rows), features: Number(config.features), loss: config.loss };
}

function readCpuSeconds(file: string): Map<number, number> {
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const { step, cpuSeconds }: CpuTime = JSON.parse(line);
      return [step, cpuSeconds];
    }),
  );
}

/** Of the rounds of an evaluation, taken as independent of each other. */
function ofHistogram(data: unknown): Measure {
  if (typeof data !== "object" || data === null || !("histogram" in data) || !Array.isArray(data.histogram))
    throw new Error(`an evaluation is ${JSON.stringify(data)}, expected its histogram`);
  return measure(data.histogram.flatMap((rounds, i) => Array<number>(Number(rounds)).fill(i + 1)));
}

/** Of steps, taken as independent of each other. */
function simulated(steps: readonly StepRecord[]): Measure {
  return measure(steps.map(({ metrics }) => metrics["acceptance_length"]!));
}

function measure(values: readonly number[]): Measure {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
}
