import type { EngineName } from "@dflash/engine";
import type { TrainConfig } from "./trainConfig.ts";

/** Where a run's target computes, and with how much. */
export interface TargetPlacement {
  /** Workers beside the drafter; 0 runs the target in the drafter's thread. */
  readonly targetWorkers: number;
  /** Threads of each engine; null leaves them to the engine. */
  readonly threads: number | null;
}

export interface PlaceTargetOptions extends Pick<TrainConfig, "targetWorkers" | "threads" | "hiddenStates"> {
  readonly engine: EngineName | "auto";
  /** Of the machine. */
  readonly cores: number;
}

/**
 * Where the target runs and with how many threads, as far as nobody has said. Native TensorFlow divides little but products among
 * its threads, so that half of the cores serves better as a lane for the target; other engines keep all cores busy inline.
 * TensorFlow's bits depend on its threads, so they are told, for the run to go on with.
 */
export function placeTarget({
  engine,
  cores,
  targetWorkers,
  threads,
  hiddenStates,
}: PlaceTargetOptions): TargetPlacement {
  if (engine !== "tensorflow") return { targetWorkers: targetWorkers ?? 0, threads };
  const workers = targetWorkers ?? (cores > 1 && hiddenStates === null ? 1 : 0);
  const lanes = workers > 0 && hiddenStates === null ? 2 : 1;
  return { targetWorkers: workers, threads: threads ?? Math.max(1, Math.floor(cores / lanes)) };
}
