import { type Schedule, warmupConstant, warmupCosine, warmupLinear, warmupStableDecay } from "@dflash/drafter";
import type { TrainConfig } from "./trainConfig.ts";

const schedules = {
  cosine: warmupCosine,
  linear: warmupLinear,
  constant: warmupConstant,
  wsd: warmupStableDecay,
} as const;

/** The learning rate of a run. */
export function createSchedule(config: TrainConfig): Schedule {
  const { learningRate: peak, steps, warmup: warmupRatio, floor } = config;
  return schedules[config.schedule]({ peak, steps, warmupRatio, floor });
}
