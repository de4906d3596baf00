import type { CausalLM } from "@dflash/causal-lm";
import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer } from "@dflash/timer";
import { expect, test } from "vitest";
import { generate } from "./generate.ts";
import { loadSmallPair } from "./smallPair.test-support.ts";

const prompt = [1, 2];
const vocabulary = [0, 1, 2, 3, 4, 5];

/** Probability of each token behind each row of tokens, from a forward pass without a cache. */
async function nextProbabilities(
  ops: Ops,
  target: CausalLM,
  rows: readonly (readonly number[])[],
): Promise<number[][]> {
  const rowStarts = Int32Array.from({ length: rows.length + 1 }, (_, row) => row * rows[0]!.length);
  const ids = Int32Array.from(rows.flat());
  const batch = { index: 0, ids, lossMask: new Uint8Array(ids.length), rowStarts };
  const { last } = target.forward(batch, { layerIds: [0], captureLast: true });
  const logits = Array.from(await target.logits(last!).read());
  return rows.map((_, row) => {
    const end = rowStarts[row + 1]! * vocabulary.length;
    const weights = logits.slice(end - vocabulary.length, end).map(Math.exp);
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  });
}

test("sampled speculation draws three tokens together as often as the target's own distribution says", async () => {
  const ops = createOps(await startEngine("wasm", { threads: 1 }));
  const timer = createTimer();
  const { target, drafter } = await loadSmallPair(ops, timer);

  let probabilities = [{ ids: prompt, share: 1 }];
  for (let token = 0; token < 3; token++) {
    const next = await nextProbabilities(
      ops,
      target,
      probabilities.map(({ ids }) => ids),
    );
    probabilities = probabilities.flatMap(({ ids, share }, row) =>
      vocabulary.map((id) => ({ ids: [...ids, id], share: share * next[row]![id]! })),
    );
  }

  const count = 3000;
  const options = { ops, timer, target, drafter, maxNewTokens: 3, temperature: 1, seed: 11, batch: 100 };
  const answers = await generate({ ...options, prompts: Array<Int32Array>(count).fill(Int32Array.from(prompt)) });
  const found = new Map<string, number>();
  for (const { ids } of answers) found.set(ids.join(), (found.get(ids.join()) ?? 0) + 1);
  // The drafter's proposals play a part: some are accepted, some are not.
  const lengths = new Set(answers.flatMap(({ acceptanceLengths }) => acceptanceLengths));
  expect(lengths).toEqual(new Set([1, 2, 3, 4]));

  const cells = probabilities.map(({ ids, share }) => ({
    expected: count * share,
    found: found.get(ids.slice(prompt.length).join()) ?? 0,
  }));
  const rare = cells.filter(({ expected }) => expected < 5);
  const rest = { expected: 0, found: 0 };
  for (const cell of rare) {
    rest.expected += cell.expected;
    rest.found += cell.found;
  }
  const counted = [...cells.filter(({ expected }) => expected >= 5), ...(rest.expected > 0 ? [rest] : [])];
  const chiSquare = counted.reduce((sum, cell) => sum + (cell.found - cell.expected) ** 2 / cell.expected, 0);
  const freedom = counted.length - 1;
  expect(freedom).toBeGreaterThan(50);
  // Wilson and Hilferty: exceeded by chance once in 1,000 seeds.
  expect(chiSquare).toBeLessThan(freedom * (1 - 2 / (9 * freedom) + 3.09 * Math.sqrt(2 / (9 * freedom))) ** 3);
  ops.engine.dispose();
});
