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

function expectPytorchs(answers: readonly Generation[], expected: SpeculationCase): void {
  const { prompts, block_size: blockSize, tau_pooled: pooled } = expected;
  expect(answers.map(({ ids }) => [...ids])).toEqual(prompts.map(({ output_ids }) => output_ids));
  const lengths = answers.map(({ acceptanceLengths }) => acceptanceLengths);
  expect(lengths).toEqual(prompts.map(({ acceptance_lengths }) => acceptance_lengths));
  expect(measureAcceptance(answers, blockSize).pooled).toBeCloseTo(pooled, 12);
}

test("tokens and acceptance lengths are PyTorch's, one prompt at a time and all together", async () => {
  const expected = await readSpeculationCase();
  const pair = await loadTinyPair("wasm");
  expectPytorchs(await generate({ ...pair, ...optionsOf(expected) }), expected);
  expectPytorchs(await generate({ ...pair, ...optionsOf(expected), batch: 8 }), expected);
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
  expectPytorchs(await generate({ ...pair, ...optionsOf(expected), batch: 8 }), expected);
});
