import type { RowRanges } from "@dflash/block-mask";
import { denseFromRowRanges } from "@dflash/block-mask";
import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockRanges } from "../blocks/blockRanges.ts";
import { blockTargets } from "../blocks/blockTargets.ts";
import { createAnchorSampler } from "../blocks/createAnchorSampler.ts";
import { noiseBlocks, rowPositions } from "../blocks/noiseBlocks.ts";
import type { DrafterConfig } from "../config/drafterConfig.ts";
import { createDrafter } from "../model/createDrafter.ts";
import { randomWeights } from "../model/randomWeights.ts";
import { tinyBatch, tinyConfig, tinyHead } from "../tinyDrafter.test-support.ts";
import { drafterFlops } from "./drafterFlops.ts";

let engine: Engine;
beforeAll(async () => void (engine = await startEngine("wasm", { threads: 1 })));
afterAll(() => engine.dispose());

const size = ({ shape }: Tensor): number => shape.reduce((product, extent) => product * extent, 1);

/** Ops that count what their products cost, from the shapes that they really see. */
function countingOps(ops: Ops): { ops: Ops; counted: () => number } {
  let flops = 0;
  const counting: Ops = {
    ...ops,
    linear(x, weight, bias) {
      flops += 2 * x.shape[0]! * size(weight);
      return ops.linear(x, weight, bias);
    },
    attention(q: Tensor, k: Tensor, v: Tensor, ranges: RowRanges, options) {
      const pairs = denseFromRowRanges(ranges).reduce((sum, seen) => sum + seen, 0);
      // Scores and their sum of values, by query head.
      flops += 2 * 2 * pairs * q.shape[1]! * q.shape[2]!;
      return ops.attention(q, k, v, ranges, options);
    },
  };
  return { ops: counting, counted: () => flops };
}

const sliding: DrafterConfig = {
  ...tinyConfig,
  layerTypes: ["sliding_attention", "full_attention"],
  slidingWindow: 4,
};

test.each([
  ["full layers", tinyConfig],
  ["sliding and full layers", sliding],
])("the forward pass of %s costs what its products do", async (_, config) => {
  const { ops, counted } = countingOps(createOps(engine));
  const drafter = await createDrafter({ ops, config, weights: randomWeights(1, 0.02), timer: createTimer() });
  const [head, batch] = [await tinyHead(ops), await tinyBatch(ops)];
  const blocks = createAnchorSampler({ blockSize: config.blockSize, anchorsPerRow: 3, seed: 1 })(batch);
  const noise = noiseBlocks(blocks, batch.ids, config.blockSize, config.maskTokenId);
  const ranges = blockRanges(blocks, config, batch.ids.length);
  ops
    .scope(() => ({
      hidden: drafter.forward({
        noise: ops.embedding(head.embedTokens, noise.ids),
        noisePositions: noise.positions,
        features: batch.features,
        contextPositions: rowPositions(batch.rowStarts),
        ranges,
      }),
    }))
    .hidden.dispose();
  const supervised = blockTargets(blocks, batch, config.blockSize).rows.length;
  const extent = { tokens: batch.ids.length, supervised, ranges };
  const flops = drafterFlops(config, { ...extent, teacher: false });
  expect(flops.forward).toBe(counted());
  // Logits and their way back to the hidden states, which the frozen head doesn't share.
  expect(flops.loss).toBe(2 * 2 * supervised * size(head.lmHead));
  const taught = drafterFlops(config, { ...extent, teacher: true });
  expect(taught.loss - flops.loss).toBe(2 * supervised * size(head.lmHead));
  // Every product has two on the way back, but nobody asks for the gradient of the features.
  expect(flops.backward).toBe(2 * flops.forward - 2 * batch.ids.length * size(drafter.parameters.get("fc.weight")!));
  for (const part of [drafter, head, batch]) part.dispose();
});
