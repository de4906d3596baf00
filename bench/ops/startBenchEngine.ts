import { startEngine, type Engine, type EngineName } from "@dflash/engine";

/** Starts the engine of that name; a native one comes from the trainer's packages. */
export function startBenchEngine(name: string, threads: number): Promise<Engine> {
  // oxlint-disable-next-line no-unsafe-type-assertion -- startEngine checks the name
  return startEngine(name as EngineName, { threads, resolveFrom: `${import.meta.dirname}/../../apps/trainer` });
}
