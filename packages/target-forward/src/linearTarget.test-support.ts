import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ops } from "@dflash/ops";
import type { TargetModel } from "./targetModel.ts";

/** How the model misbehaves. */
export interface LinearTargetOptions {
  /** Ends its worker in the forward of these batches; with a file, only until it has noted the batch there. */
  readonly crashes?: { readonly batches: readonly number[]; readonly file?: string };
  /** Waits before each forward, ms. */
  readonly delayMs?: number;
  /** Does not load, with this message. */
  readonly broken?: string;
}

/**
 * A model brought along, for this thread or a worker: the embedding of token `id` is [id, −id], and layer i gives i + 1 times
 * that. Vocabulary 100.
 */
export default function linearTarget(
  { crashes, delayMs, broken }: LinearTargetOptions,
  { ops }: { readonly ops: Ops },
): TargetModel {
  if (broken !== undefined) throw new Error(broken);
  const table = ops.upload(
    Float32Array.from({ length: 200 }, (_, i) => (i >> 1) * (i % 2 ? -1 : 1)),
    [100, 2],
  );
  const layers = [1, 2, 3].map((factor) => ops.upload(Float32Array.of(factor, 0, 0, factor), [2, 2]));
  return {
    layers: 3,
    hiddenSize: 2,
    async forward({ index, ids }, { layerIds, captureLast }) {
      if (delayMs !== undefined) await sleep(delayMs);
      const mark = `${crashes?.file}.${index}`;
      if (crashes?.batches.includes(index) && !existsSync(mark)) {
        if (crashes.file !== undefined) appendFileSync(mark, "");
        process.exit(3);
      }
      return ops.scope(() => {
        const outputs = layers.map((layer) => ops.linear(ops.embedding(table, ids), layer));
        return { features: layerIds.map((id) => outputs[id]!), last: captureLast ? outputs[2]! : null };
      });
    },
    dispose: () => [table, ...layers].forEach((tensor) => tensor.dispose()),
  };
}
