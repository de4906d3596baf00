import { startEngine } from "@dflash/engine";
import { createOps, type Ops } from "@dflash/ops";
import { createTimer, type ReportSnapshot } from "@dflash/timer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generate, type GenerateOptions } from "./generate.ts";
import type { GeneratedTokens } from "./generation.ts";
import { loadSmallPair } from "./smallPair.test-support.ts";

const prompts = [Int32Array.of(1, 2, 3), Int32Array.of(4), Int32Array.of(0, 0, 3, 1, 2)];

describe("generate", () => {
  const timer = createTimer();
  let ops: Ops;
  let pair: Pick<GenerateOptions, "target" | "drafter">;
  beforeAll(async () => {
    ops = createOps(await startEngine("wasm", { threads: 1 }));
    pair = await loadSmallPair(ops, timer);
  });
  afterAll(() => ops.engine.dispose());

  const run = (options: Partial<GenerateOptions> = {}) =>
    generate({ ...pair, ops, timer, prompts, maxNewTokens: 20, ...options });
  const idsOf = async (options: Partial<GenerateOptions> = {}) =>
    (await run(options)).map(({ ids }) => Array.from(ids));

  test.each([1, 2, 3, 4])(
    "with blocks of %i gives what the target alone gives, greedy and sampled",
    async (blockSize) => {
      for (const temperature of [0, 1]) {
        const alone = await idsOf({ drafter: null, temperature });
        expect(await idsOf({ blockSize, temperature })).toEqual(alone);
        expect(await idsOf({ blockSize, temperature, batch: 2 })).toEqual(alone);
      }
    },
  );

  test("sampling depends on the seed", async () => {
    expect(await idsOf({ temperature: 1, seed: 1 })).not.toEqual(await idsOf({ temperature: 1, seed: 2 }));
  });

  test("calls back with the answer, round by round, and says what the drafter proposed", async () => {
    const heard: GeneratedTokens[] = [];
    const answers = await run({ temperature: 1, stopIds: [3], batch: 2, onTokens: (tokens) => heard.push(tokens) });
    for (const [index, { ids, acceptanceLengths, finish }] of answers.entries()) {
      const own = heard.filter(({ prompt }) => prompt === index);
      expect(own.flatMap((round) => round.ids)).toEqual(Array.from(ids));
      expect(own[0]).toMatchObject({ ids: [ids[0]], accepted: 0 });
      const whole = own.slice(1, -1);
      expect(whole.map((round) => round.ids.length)).toEqual(acceptanceLengths.slice(0, -1));
      for (const round of whole) expect(round.accepted).toBe(round.ids.length - 1);
      expect(finish).toBe(ids.at(-1) === 3 ? "stop" : "length");
    }
    expect(answers.map(({ finish }) => finish)).toContain("stop");
  });

  test("hears a signal that comes from outside, such as Ctrl-C", async () => {
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    const [answer] = await run({ signal: stop.signal, prompts: prompts.slice(0, 1) });
    expect(answer!.finish).toBe("signal");
  });

  test("ends at the signal with what there is, and frees all it made", async () => {
    await run();
    const { tensors } = ops.engine.memory();
    const stop = new AbortController();
    let rounds = 0;
    const onTokens = (): void => {
      if (++rounds === 3) stop.abort();
    };
    const answers = await run({ signal: stop.signal, onTokens });
    expect(answers.map(({ finish }) => finish)).toEqual(["signal", "signal", "signal"]);
    expect(answers.map(({ ids }) => ids.length > 0)).toEqual([true, false, false]);
    expect(answers[0]!.ids).toEqual((await run())[0]!.ids.subarray(0, answers[0]!.ids.length));
    const failing = run({
      onTokens: () => {
        throw new Error("no more");
      },
    });
    await expect(failing).rejects.toThrow("no more");
    expect(ops.engine.memory().tensors).toBe(tensors);
  });

  test("says in the timer where the time went", async () => {
    const reports: ReportSnapshot[] = [];
    // What ran between steps belongs to the next one.
    timer.step(() => {});
    timer.once("report", (report) => reports.push(report.snapshot()));
    await timer.step(async () => run());
    const { sections } = reports[0]!;
    const times = ["prefill", "draft", "verify", "sample", "crop"].map((name) => sections[`speculate/${name}`]!.count);
    const [prefill, draft, ...rest] = times;
    expect(prefill).toBe(prompts.length);
    const rounds = rest[0]!;
    expect(rounds).toBeGreaterThan(3);
    expect(rest).toEqual([rounds, rounds, rounds]);
    // Each round's features go to the drafter when the target has made them.
    expect(draft).toBe(2 * rounds);
  });

  test("refuses what can't be, in one line", async () => {
    const refused: [Partial<GenerateOptions>, string][] = [
      [{ blockSize: 5 }, "blockSize is 5, expected 1 to 4, the drafter's"],
      [{ blockSize: 2, drafter: null }, "blockSize is 2, expected 1 to 1, without a drafter"],
      [{ maxNewTokens: 0 }, "maxNewTokens is 0, expected an integer of at least 1"],
      [{ batch: 1.5 }, "batch is 1.5, expected an integer of at least 1"],
      [{ temperature: -1 }, "temperature is -1, expected a number of at least 0"],
      [{ temperature: Number.NaN }, "temperature is NaN"],
      [{ seed: -1 }, "seed is -1"],
      [{ prompts: [Int32Array.of(1), new Int32Array()] }, "prompt 1 is empty, expected at least one token"],
      [{ maxNewTokens: 62 }, "prompt 0 of 3 tokens with 62 new ones exceeds the drafter's 64 positions"],
      [{ prompts: [Int32Array.of(1, 6)] }, "extend: row 0 holds id 6, expected 0 to 5"],
    ];
    for (const [options, message] of refused) await expect(run(options)).rejects.toThrow(message);
  });
});
