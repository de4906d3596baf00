import { readdirSync, readFileSync } from "node:fs";
import { denseFromRowRanges } from "@dflash/block-mask";
import { type Engine, startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockRates, countMatches } from "./blocks/blockMatches.ts";
import { blockRanges } from "./blocks/blockRanges.ts";
import { blockTargets } from "./blocks/blockTargets.ts";
import { noiseBlocks, rowPositions } from "./blocks/noiseBlocks.ts";
import { slotWeights } from "./blocks/slotWeights.ts";
import { type DrafterCase, readDrafterCase } from "./drafterCase.test-support.ts";
import { fixtures } from "./fixture.test-support.ts";
import { createObjective } from "./training/objective.ts";

/** Every case whose loss is ours. */
const cases = readdirSync(fixtures)
  .filter((file) => /^drafter-.*\.json$/.test(file))
  .filter((file) => JSON.parse(readFileSync(`${fixtures}/${file}`, "utf8")).loss_type === "dflash")
  .map((file) => file.replace(".json", ""));

test("there are cases with decay and without", () => {
  expect(cases).toEqual(expect.arrayContaining(["drafter-full-b8", "drafter-full-b16-nodecay"]));
});

describe.each(["cpu", "wasm"] as const)("on %s", (engineName) => {
  let engine: Engine;
  let ops: Ops;
  beforeAll(async () => {
    engine = await startEngine(engineName, { threads: 1 });
    ops = createOps(engine);
  });
  afterAll(() => engine.dispose());

  describe.each(cases)("%s", (name) => {
    let parity: DrafterCase;
    beforeAll(async () => void (parity = await readDrafterCase(name, ops)));
    afterAll(() => parity.dispose());

    test("sees the keys that PyTorch's mask shows", () => {
      const { batch, blocks, drafter } = parity;
      const ranges = blockRanges(blocks, drafter.config, batch.ids.length)[drafter.config.layerTypes[0]!];
      expect(denseFromRowRanges(ranges)).toEqual(packMask(parity));
    });

    test("gives the same hidden states", async () => {
      const { batch, blocks, drafter, head, expected } = parity;
      const noise = noiseBlocks(blocks, batch.ids, drafter.config.blockSize, drafter.config.maskTokenId);
      const hidden = ops.scope(() =>
        drafter.forward({
          noise: ops.embedding(head.embedTokens, noise.ids),
          noisePositions: noise.positions,
          features: batch.features,
          contextPositions: rowPositions(batch.rowStarts),
          ranges: blockRanges(blocks, drafter.config, batch.ids.length),
        }),
      );
      const values = await hidden.read();
      hidden.dispose();
      expect(largestDifference(values, expected("draft_hidden")) / largest(expected("draft_hidden"))).toBeLessThan(
        1e-4,
      );
    });

    test("gives the same loss, accuracy and gradients", async () => {
      const { batch, blocks, drafter, head, expected, gamma } = parity;
      const { blockSize } = drafter.config;
      const targets = blockTargets(blocks, batch, slotWeights(blockSize, gamma));
      const objective = createObjective({ drafter, head, ops, timer: createTimer() });
      const recording = objective(batch, blocks, targets, targets.weightSum);
      const { loss, predictions } = recording.outputs;
      const gradients = recording.backward();

      const [expectedLoss] = expected("loss");
      expect(Math.abs((await loss.read())[0]! - expectedLoss!) / expectedLoss!).toBeLessThan(1e-5);
      const { accuracy } = blockRates(countMatches(targets, await predictions.read(), blockSize));
      expect(accuracy).toBeCloseTo(expected("accuracy")[0]!, 6);
      const errors = new Map<string, number>();
      for (const [index, parameter] of [...drafter.parameters.keys()].entries()) {
        errors.set(parameter, relativeError(await gradients[index]!.read(), expected(`grads/${parameter}`)));
      }
      expect([...errors].filter(([, error]) => !(error < 1e-3))).toEqual([]);
      expect(errors.size).toBe(gradients.length);
      for (const tensor of [...Object.values(recording.outputs), ...gradients]) tensor.dispose();
    });
  });
});

/** The case's mask over [row | the row's noise], moved to keys [all rows | all noise]. */
function packMask({ mask, batch, blocks, drafter }: DrafterCase): Uint8Array {
  const rows = batch.rowStarts.length - 1;
  const context = batch.ids.length;
  const queries = blocks.anchors.length * drafter.config.blockSize;
  const [rowContext, rowQueries] = [context / rows, queries / rows];
  const rowKeys = rowContext + rowQueries;
  const dense = new Uint8Array(queries * (context + queries));
  for (let query = 0; query < queries; query++) {
    const row = Math.floor(query / rowQueries);
    for (let key = 0; key < rowKeys; key++) {
      const packed = key < rowContext ? row * rowContext + key : context + row * rowQueries + key - rowContext;
      dense[query * (context + queries) + packed] = mask[query * rowKeys + key]!;
    }
  }
  return dense;
}

function largest(values: ArrayLike<number>): number {
  return Math.max(...Array.from(values, Math.abs));
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return largest(Array.from(a, (value, i) => value - b[i]!));
}

/** ‖a − b‖ / ‖b‖ */
function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Math.hypot(...Array.from(a, (value, i) => value - b[i]!)) / Math.hypot(...Array.from(b));
}
