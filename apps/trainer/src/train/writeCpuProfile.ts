import type { Timer } from "@dflash/timer";
import { profileSteps } from "@dflash/timer/node";
import { writeJson } from "../writeJson.ts";
import type { StepRange } from "./stepRange.ts";

export interface CpuProfileOptions {
  readonly timer: Timer;
  readonly range: StepRange;
  /** Steps of earlier attempts, which the timer does not count. */
  readonly stepsBefore: number;
  readonly path: string;
  /** Told when it is written. */
  readonly say: (line: string) => void;
}

/** Writes a V8 CPU profile of a range of steps as soon as they are done, for Chrome's developer tools. */
export async function writeCpuProfile({ timer, range, stepsBefore, path, say }: CpuProfileOptions): Promise<void> {
  const { profile } = await profileSteps(timer, { from: range.from - stepsBefore, to: range.to - stepsBefore });
  writeJson(path, profile);
  say(`the CPU profile of steps ${range.from} to ${range.to} is in ${path}`);
}
