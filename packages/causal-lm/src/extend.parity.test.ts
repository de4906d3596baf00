import { startEngine } from "@dflash/engine";
import { createOps, type Ops, type Tensor } from "@dflash/ops";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadCausalLM } from "./causalLM.ts";
import { describeEngines, engineOptions } from "./describeEngines.test-support.ts";
import { mismatches } from "./mismatches.test-support.ts";
import { openTargetFixture } from "./targetFixture.test-support.ts";

const cases = ["target-qwen3-tied", "target-qwen3-untied-yarn", "target-qwen2-bias", "target-llama3-rope"];

/** Where two rows are cut into the pieces that are run one after another: together, alone, and with a rejected guess between. */
const cuts = [1, 8, 9];

describeEngines(["wasm", "tensorflow", "webgpu"], (engineName) => {
  let ops: Ops;
  beforeAll(async () => {
    ops = createOps(await startEngine(engineName, engineOptions));
  });
  afterAll(() => ops.engine.dispose());

  it.each(cases)("%s, run piece by piece behind its cache, matches PyTorch", async (name) => {
    const fixture = await openTargetFixture(name);
    const model = await loadCausalLM(fixture.dir, { ops });
    const { ids, rowStarts } = fixture.batch;
    // Makes the rotary table.
    const whole = model.createCache();
    const first = model.extend([{ ids: ids.slice(0, rowStarts[2]), cache: whole }], [0]);
    for (const tensor of [...first.features, first.last, whole]) tensor.dispose();
    const { tensors } = ops.engine.memory();
    const rows = [0, 1].map((row) => ({
      ids: ids.subarray(rowStarts[row], rowStarts[row + 1]),
      cache: model.createCache(),
    }));
    const pieces: Tensor[][] = [[], []];
    const features: Tensor[][] = [[], []];
    for (const [i, start] of [0, ...cuts].entries()) {
      const end = cuts[i] ?? Infinity;
      // A guess that is taken back leaves nothing behind.
      const guess = model.extend([{ ids: Int32Array.of(1, 2, 3), cache: rows[1]!.cache }], [0]);
      for (const tensor of [...guess.features, guess.last]) tensor.dispose();
      rows[1]!.cache.crop(start);
      const next = rows.map((row) => ({ ...row, ids: row.ids.slice(start, end) }));
      const states = model.extend(next, [0]);
      let from = 0;
      for (const [row, { ids: own, cache }] of next.entries()) {
        expect(cache.length).toBe(start + own.length);
        pieces[row]!.push(ops.slice(states.last, from, from + own.length));
        features[row]!.push(ops.slice(states.features[0]!, from, from + own.length));
        from += own.length;
      }
      for (const tensor of [...states.features, states.last]) tensor.dispose();
    }
    const computed = {
      logits: ops.scope(() => model.logits(ops.concat(pieces.flat(), 0))),
      "hidden_states/1": ops.concat(features.flat(), 0),
    };
    expect(await mismatches(computed, fixture.expected)).toEqual([]);
    for (const tensor of [...pieces.flat(), ...features.flat(), ...Object.values(computed)]) tensor.dispose();
    for (const { cache } of rows) cache.dispose();
    expect(ops.engine.memory().tensors).toBe(tensors);
    model.dispose();
    await fixture.remove();
  });

  it("refuses rows and caches that can't be", async () => {
    const fixture = await openTargetFixture(cases[0]!);
    const [model, other] = [await loadCausalLM(fixture.dir, { ops }), await loadCausalLM(fixture.dir, { ops })];
    const cache = model.createCache();
    const run = (values: number[], layerIds = [0], from = cache) =>
      model.extend([{ ids: Int32Array.from(values), cache: from }], layerIds);
    expect(() => run([])).toThrow("extend: row 0 has no new token, expected at least 1");
    expect(() => run([-1])).toThrow(`extend: row 0 holds id -1, expected 0 to ${model.config.vocabSize - 1}`);
    expect(() => run([1], [99])).toThrow("layerIds holds 99");
    expect(() => run([1], [0], other.createCache())).toThrow(
      "target cache: the sequence of row 0 is of another model or disposed",
    );
    expect(() => cache.crop(1)).toThrow("target cache: length is 1, expected an integer from 0 to 0");
    for (const each of [model, other]) each.dispose();
    await fixture.remove();
  });
});
