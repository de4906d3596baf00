import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Field } from "../settings/field.ts";
import type { TrainConfig } from "./trainConfig.ts";
import { trainFields } from "./trainFields.ts";

/** Names of what may change from attempt to attempt, since the weights don't depend on it. */
export const decidesNothing: ReadonlySet<string> = new Set(
  Object.entries<Field>(trainFields).flatMap(([name, field]) => (field.decidesNothing ? [name] : [])),
);

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
