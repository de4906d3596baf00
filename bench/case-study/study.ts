import { join } from "node:path";
import type { EngineName } from "@dflash/engine";
import { dflash, runTraining, type Run, type TrainingOptions } from "./runTraining.ts";
import { controls, naive, remedy, type Settings, written } from "./settings.ts";

/** Runs of the same settings. */
export interface Stage {
  readonly settings: Settings;
  /** The change that made it of the stage before; null for the first. */
  readonly change: { readonly setting: string; readonly value: string } | null;
  readonly runs: readonly Run[];
}

/** A what-if on the log of one stage, against the stage that followed. */
export interface Prediction {
  readonly asked: string;
  readonly tokensPerSecond: number;
}

/** All that was measured on one engine. */
export interface Study {
  readonly engine: EngineName;
  readonly stages: readonly Stage[];
  /** By stage; null where the change is none that a replay can answer for. */
  readonly predictions: readonly (Prediction | null)[];
  /** The last stage with one more change each, which no verdict asked for; the very last is the naive loop with both cores. */
  readonly controls: readonly Stage[];
}

interface Plan {
  readonly settings: Settings;
  readonly change: Stage["change"];
}

/** How a study is made. */
export interface StudyOptions extends TrainingOptions {
  /** Where runs are left, and found again: a study that was stopped goes on. */
  readonly folder: string;
  readonly rounds: number;
}

/** The run in the middle by its rate. */
export const middle = ({ runs }: Stage): Run =>
  runs.toSorted((a, b) => a.tokensPerSecond - b.tokensPerSecond)[Math.floor(runs.length / 2)]!;

/** The verdict of most runs, with how many these are. */
export function commonVerdict({ runs }: Stage): { cause: string; count: number } {
  const causes = runs.map(({ verdict }) => verdict.cause);
  const count = (cause: string): number => causes.filter((other) => other === cause).length;
  const cause = causes.toSorted((a, b) => count(b) - count(a))[0]!;
  return { cause, count: count(cause) };
}

/**
 * Follows the verdicts from the naive loop on: each stage makes the change that the verdict before asks for. Then all stages run in
 * turn, round by round, so that what else the machine does hits all of them.
 */
export async function runStudy({ folder, rounds, engine, steps }: StudyOptions): Promise<Study> {
  const run = ({ settings }: Plan, round: number): Promise<Run> => {
    const name = `${engine} ${written(settings)}`.replaceAll(/[^a-z0-9]+/g, "-");
    return runTraining(settings, { engine, steps }, join(folder, `${name}-${round}`));
  };
  const path: Plan[] = [{ settings: naive, change: null }];
  const firsts: Run[] = [];
  for (const plan of path) {
    const first = await run(plan, 0);
    firsts.push(first);
    const { cause, share, confidence } = first.verdict;
    console.error(
      `${engine} ${written(plan.settings)}: ${first.tokensPerSecond.toFixed(0)} tokens/s, ${cause} (share ${share.toFixed(2)}, confidence ${confidence.toFixed(2)})`,
    );
    const change = remedy(cause, plan.settings);
    if (change) path.push({ settings: { ...plan.settings, [change.setting]: change.value }, change });
  }
  const last = path.at(-1)!.settings;
  const beside = controls
    .filter(([setting]) => setting === "--threads" || !(setting in last))
    .map(([setting, value]): Plan => ({ settings: { ...last, [setting]: value }, change: { setting, value } }));
  const inline: Plan = { settings: { ...naive, "--threads": "2" }, change: { setting: "--threads", value: "2" } };
  const plans = [...path, ...beside, inline];
  const runs: Run[][] = plans.map((_, i) => (firsts[i] ? [firsts[i]] : []));
  for (let round = 0; round < rounds; round++)
    for (const [i, plan] of plans.entries()) if (runs[i]!.length <= round) runs[i]!.push(await run(plan, round));
  const all = plans.map((plan, i): Stage => ({ ...plan, runs: runs[i]! }));
  const stages = all.slice(0, path.length);
  return {
    engine,
    stages,
    controls: all.slice(path.length),
    predictions: stages.map((stage, i) => predict(stage, stages[i + 1])),
  };
}

const replayed = ["--target-workers", "--queue", "--min-ready"];

function predict(stage: Stage, next: Stage | undefined): Prediction | null {
  if (!next?.change || !replayed.includes(next.change.setting)) return null;
  const asked = `${next.change.setting.slice(2)}=${next.change.value}`;
  const answer = dflash("log", middle(stage).folder, "--what-if", asked);
  const rate = /^predicted .* (\d+) tokens\/s/m.exec(answer)?.[1];
  if (rate === undefined) throw new Error(`dflash log answered: ${answer}`);
  return { asked, tokensPerSecond: Number(rate) };
}
