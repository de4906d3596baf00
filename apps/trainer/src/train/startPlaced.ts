import { availableParallelism } from "node:os";
import { type Engine, type EngineName, startEngine } from "@dflash/engine";
import { placeTarget, type TargetPlacement } from "./placeTarget.ts";
import type { TrainConfig } from "./trainConfig.ts";

/** Settings in which nothing is left to the machine. */
export type PlacedConfig = TrainConfig & TargetPlacement;

/** Starts the drafter's engine with the threads that it has beside the target's. */
export async function startPlaced(config: TrainConfig): Promise<{ engine: Engine; config: PlacedConfig }> {
  const cores = availableParallelism();
  const ofEnvironment = Number(process.env["TF_NUM_INTRAOP_THREADS"]) || null;
  const place = (name: EngineName): TargetPlacement =>
    placeTarget({
      ...config,
      engine: name,
      cores,
      threads: config.threads ?? (name === "tensorflow" ? ofEnvironment : null),
    });
  const { matmulPrecision } = config;
  const threads = (name: EngineName): number | undefined => place(name).threads ?? undefined;
  const engine = await startEngine(config.engine, { matmulPrecision, threads });
  const placed = { ...config, engine: engine.name, ...place(engine.name) };
  // TensorFlow keeps those of its first start.
  return { engine, config: engine.name === "tensorflow" ? { ...placed, threads: engine.threads } : placed };
}
