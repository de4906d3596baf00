import { engineProblem } from "@dflash/engine";
import { expect, test } from "vitest";
import { generate, type GenerateOptions } from "./generate.ts";
import type { Generation } from "./generation.ts";
import { measureAcceptance } from "./measureAcceptance.ts";
import { engineOptions, loadTinyPair, readSpeculationCase, type SpeculationCase } from "./tinyTarget.test-support.ts";

const missing = await engineProblem("tensorflow", engineOptions);

function optionsOf({
  prompts,
  max_new_tokens: maxNewTokens,
}: SpeculationCase): Omit<GenerateOptions, "ops" | "timer" | "target" | "drafter"> {
  return { prompts: prompts.map(({ prompt_ids }) => Int32Array.from(prompt_ids)), maxNewTokens, stopIds: [2] };
}

/** What PyTorch's loop is compared by. */
const figures = (answers: readonly Generation[], blockSize: number): unknown => ({
  ids: answers.map(({ ids }) => [...ids]),
  lengths: answers.map(({ acceptanceLengths }) => acceptanceLengths),
  pooled: measureAcceptance(answers, blockSize).pooled,
});

const pytorchs = ({ prompts, tau_pooled: pooled }: SpeculationCase): unknown => ({
  ids: prompts.map(({ output_ids }) => output_ids),
  lengths: prompts.map(({ acceptance_lengths }) => acceptance_lengths),
  pooled: expect.closeTo(pooled, 12),
});

test("tokens and acceptance lengths are PyTorch's, one prompt at a time and all together", async () => {
  const expected = await readSpeculationCase();
  const pair = await loadTinyPair("wasm");
  const options = { ...pair, ...optionsOf(expected) };
  expect(figures(await generate(options), expected.block_size)).toEqual(pytorchs(expected));
  expect(figures(await generate({ ...options, batch: 8 }), expected.block_size)).toEqual(pytorchs(expected));
});

test("the target alone gives PyTorch's greedy tokens", async () => {
  const expected = await readSpeculationCase();
  const pair = await loadTinyPair("wasm");
  const alone = await generate({ ...pair, ...optionsOf(expected), drafter: null, batch: 8 });
  expect(alone.map(({ ids }) => [...ids])).toEqual(expected.prompts.map(({ greedy_ids }) => greedy_ids));
  expect(alone.every(({ acceptanceLengths }) => acceptanceLengths.every((length) => length === 1))).toBe(true);
});

const why = missing === null ? "" : ` (skipped: ${missing})`;
test.skipIf(missing !== null)(`tensorflow gives PyTorch's tokens and acceptance lengths too${why}`, async () => {
  const expected = await readSpeculationCase();
  const pair = await loadTinyPair("tensorflow");
  const answers = await generate({ ...pair, ...optionsOf(expected), batch: 8 });
  expect(figures(answers, expected.block_size)).toEqual(pytorchs(expected));
});
