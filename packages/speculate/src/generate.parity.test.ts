import { engineProblem } from "@dflash/engine";
import { describe, expect, test } from "vitest";
import { generate } from "./generate.ts";
import { engineOptions, loadTinyPair, readSpeculationCase } from "./tinyTarget.test-support.ts";

const missing = await engineProblem("tensorflow", engineOptions);

describe.each(["wasm", "tensorflow"] as const)("on %s", (engineName) => {
  const skipped = engineName === "tensorflow" && missing !== null;
  const why = skipped ? ` (skipped: ${missing})` : "";
  test.skipIf(skipped)(`tokens and acceptance lengths are PyTorch's, and those of the target alone${why}`, async () => {
    const { ops, timer, target, drafter } = await loadTinyPair(engineName);
    const { prompts, max_new_tokens: maxNewTokens, tau_pooled: pooled } = await readSpeculationCase();
    const stopIds = [2];
    const options = { ops, timer, target, maxNewTokens, stopIds };
    const ids = prompts.map(({ prompt_ids }) => Int32Array.from(prompt_ids));

    const speculated = await generate({ ...options, drafter, prompts: ids });
    expect(speculated.map((answer) => [...answer.ids])).toEqual(prompts.map(({ output_ids }) => output_ids));
    const lengths = speculated.map(({ acceptanceLengths }) => acceptanceLengths);
    expect(lengths).toEqual(prompts.map(({ acceptance_lengths }) => acceptance_lengths));
    const all = lengths.flat();
    expect(all.reduce((sum, length) => sum + length, 0) / all.length).toBeCloseTo(pooled, 12);

    const alone = await generate({ ...options, drafter: null, prompts: ids, batch: 8 });
    expect(alone.map((answer) => [...answer.ids])).toEqual(prompts.map(({ greedy_ids }) => greedy_ids));
    expect(alone.every(({ acceptanceLengths }) => acceptanceLengths.every((length) => length === 1))).toBe(true);

    const together = await generate({ ...options, drafter, prompts: ids, batch: 8 });
    expect(together).toEqual(speculated);
  });
});
