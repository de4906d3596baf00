import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TrainConfig } from "./trainConfig.ts";

/** Names of what may change from attempt to attempt, since the weights don't depend on it. */
export const decidesNothing: ReadonlySet<string> = new Set<keyof TrainConfig>([
  // Where they lie; their sizes are compared.
  "target",
  "data",
  "out",
  // The same bits with any number of threads.
  "threads",
  "targetWorkers",
  "queue",
  "minReady",
  "checkpointEvery",
  "keep",
  "logFormat",
  "log",
  "baseline",
  "telemetry",
]);

/** What decides the weights that come out of a run: a checkpoint is good for no other. */
export function trainSettings(config: TrainConfig): Record<string, unknown> {
  const deciding = Object.entries(config).filter(([name]) => !decidesNothing.has(name));
  return {
    ...Object.fromEntries(deciding),
    dataBytes: statSync(config.data).size,
    targetBytes: weightBytes(config.target),
  };
}

/** Size of a model's weights. */
function weightBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.endsWith(".safetensors"));
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
