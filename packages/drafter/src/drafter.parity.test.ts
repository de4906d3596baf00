import { readdirSync } from "node:fs";
import { denseFromRowRanges } from "@dflash/block-mask";
import { createTimer } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blockRates, countMatches } from "./blocks/blockMatches.ts";
import { blockRanges } from "./blocks/blockRanges.ts";
import { blockTargets } from "./blocks/blockTargets.ts";
import { noiseBlocks, rowPositions } from "./blocks/noiseBlocks.ts";
import { describeEngines } from "./describeEngines.test-support.ts";
import { type DrafterCase, readDrafterCase } from "./drafterCase.test-support.ts";
import { fixtures } from "./fixture.test-support.ts";
import { createObjective } from "./training/objective.ts";

const cases = readdirSync(fixtures)
  .filter((file) => /^drafter-.*\.json$/.test(file))
  .map((file) => file.replace(".json", ""));

test("there are cases with decay, without, with a sliding window, and with D-PACE", () => {
  expect(cases).toEqual(
    expect.arrayContaining(["drafter-full-b8", "drafter-full-b16-nodecay", "drafter-sliding-b4", "drafter-dpace-b8"]),
  );
});

describeEngines((ops) => {
  describe.each(cases)("%s", (name) => {
    let parity: DrafterCase;
    beforeAll(async () => void (parity = await readDrafterCase(name, ops())));
    afterAll(() => parity.dispose());

    test("sees the keys that PyTorch's mask shows", () => {
      const { batch, blocks, drafter } = parity;
      const ranges = blockRanges(blocks, drafter.config, batch.ids.length)[drafter.config.layerTypes[0]!];
      expect(denseFromRowRanges(ranges)).toEqual(packMask(parity));
    });

    test("gives the same hidden states", async () => {
      const { batch, blocks, drafter, head, expected } = parity;
      const noise = noiseBlocks(blocks, batch.ids, drafter.config.blockSize, drafter.config.maskTokenId);
      const hidden = ops().scope(() =>
        drafter.forward({
          noise: ops().embedding(head.embedTokens, noise.ids),
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
      const { batch, blocks, drafter, head, expected, loss } = parity;
      const { blockSize } = drafter.config;
      const targets = blockTargets(blocks, batch, blockSize);
      const objective = createObjective({ drafter, head, ops: ops(), timer: createTimer(), loss });
      const evaluation = await objective(batch, blocks, targets);

      const [expectedLoss] = expected("loss");
      expect(Math.abs(evaluation.loss / evaluation.divisor / expectedLoss! - 1)).toBeLessThan(1e-5);
      const { accuracy } = blockRates(countMatches(targets, evaluation, blockSize));
      expect(accuracy).toBeCloseTo(expected("accuracy")[0]!, 6);
      const errors = new Map<string, number>();
      for (const [index, parameter] of [...drafter.parameters.keys()].entries()) {
        const gradient = Array.from(await evaluation.gradients[index]!.read(), (value) => value / evaluation.divisor);
        errors.set(parameter, relativeError(gradient, expected(`grads/${parameter}`)));
      }
      expect([...errors].filter(([, error]) => !(error < 1e-3))).toEqual([]);
      expect(errors.size).toBe(evaluation.gradients.length);
      for (const gradient of evaluation.gradients) gradient.dispose();
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
