import { join } from "node:path";
import type { HeaderRecord, StepRecord } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

const small = ["train", "--threads", "1", "--anchors", "2", "--max-length", "64", "--engine", "wasm", "--steps", "5"];

/** Header and steps of a run that went well. */
async function run(folder: string, ...args: string[]): Promise<[HeaderRecord, StepRecord[]]> {
  const { code, stderr } = await dflash([...small, ...args, "--out", "run"], folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const records = readLog(join(folder, "run"));
  return [records[0] as HeaderRecord, steps(records)];
}

/** Bytes that packing allocated in each step. */
const moved = (records: StepRecord[]): number[] =>
  records.map(({ sections }) => sections["target/pack"]!.new_bytes ?? 0);

const losses = (records: StepRecord[]): unknown[] => records.map(({ metrics }) => metrics["loss"]);

test("workers give the losses of the inline target, bit for bit unless rounded on the way, in lanes of their own", async () => {
  const [, inline] = await run(temporaryFolder(), "--rows", "1");
  const [header, beside] = await run(temporaryFolder(), "--rows", "1", "--target-workers", "2", "--queue", "4");
  expect(losses(beside)).toEqual(losses(inline));
  expect(Object.keys(beside[0]!.lanes).toSorted()).toEqual(["data", "drafter", "target[0]", "target[1]"]);
  const lanes = Object.fromEntries(header.sections.map(({ name, lane }) => [name, lane]));
  expect(lanes).toMatchObject({
    "target/forward": "target[0]",
    "target/mlp": "target[0]",
    "target/hand-over": "target[0]",
    "target/forward@target[1]": "target[1]",
    "queue/wait": "drafter",
    "queue/receive": "drafter",
  });
  for (const { ms, residual_ms: residual, sections, gauges } of beside) {
    const own = Object.entries(sections).filter(([name]) => lanes[name] === "drafter");
    const sum = own.reduce((total, [, { self_ms: self }]) => total + (self ?? 0), 0);
    expect(Math.abs(sum + residual - ms)).toBeLessThan(0.0005 * (own.length + 2));
    expect(gauges["target_tensor_bytes"]).toBeGreaterThan(1_000_000);
    expect(gauges["queue_depth"]).toBeLessThanOrEqual(4);
  }

  const [, rounded] = await run(temporaryFolder(), "--rows", "1", "--target-workers", "1", "--wire", "bfloat16");
  expect(losses(rounded)).not.toEqual(losses(inline));
  for (const [step, loss] of losses(rounded).entries())
    expect(Math.abs(Number(loss) / Number(losses(inline)[step]) - 1)).toBeLessThan(0.01);
});

test("features that come split by layer train as joined ones do, and packing moves nothing", async () => {
  const [, joined] = await run(temporaryFolder(), "--rows", "1");
  const [, split] = await run(temporaryFolder(), "--rows", "1", "--split-features");
  for (const [step, loss] of losses(split).entries())
    expect(Math.abs(Number(loss) / Number(losses(joined)[step]) - 1)).toBeLessThan(1e-3);
  expect(Math.min(...moved(joined))).toBeGreaterThan(0);
  expect(moved(split)).toEqual([0, 0, 0, 0, 0]);
});

test("buckets leave few shapes, packing leaves one; the log says how much of it is padding", async () => {
  const long = ["--rows", "1", "--max-length", "256"];
  const [, free] = await run(temporaryFolder(), ...long);
  const [, bucketed] = await run(temporaryFolder(), ...long, "--buckets", "auto");
  const [, packed] = await run(temporaryFolder(), "--batch-tokens", "160");
  const shapes = [free, bucketed, packed].map((records) => records.at(-1)!.gauges["batch_shapes"]);
  expect(shapes[0]).toBeGreaterThan(2);
  for (const { metrics } of bucketed) expect([32, 48, 64, 96, 128, 192, 256]).toContain(metrics["tokens"]);
  expect(shapes[2]).toBe(1);
  expect(packed.map(({ metrics }) => metrics["tokens"])).toEqual(Array(5).fill(160));
  for (const { gauges } of free) expect(gauges["padding_share"]).toBe(0);
  for (const { gauges } of packed) expect(gauges["padding_share"]).toBeLessThan(0.5);
  expect(packed.at(-1)!.gauges["padding_share"]).toBeGreaterThan(0);
});

test("a run's log tells how fast the run would be under other settings", async () => {
  const folder = temporaryFolder();
  await run(folder, "--rows", "1");
  const asked = ["log", "run", "--what-if"];
  const { code, stdout, stderr } = await dflash([...asked, "target-workers=1,cores=8"], folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rate = String.raw`\d+\.\d ms a step, \d+ tokens/s`;
  expect(stdout).toMatch(
    new RegExp(
      `^recorded   ${rate}\nreplayed   ${rate}\npredicted  ${rate} \\([+-]\\d+\\.\\d %\\) with target-workers=1,cores=8\nverdict    `,
    ),
  );
  expect((await dflash([...asked, "speed=2"], folder)).stderr).toMatch(
    /^dflash: --what-if speed=2: expected target-workers=N/,
  );
  expect((await dflash(["log", "nowhere", "--what-if", "queue=2"], folder)).stderr).toMatch(/nowhere: no such run/);
});

test("a queue that can't work and lengths that are none are said in one line", async () => {
  const folder = temporaryFolder();
  const failure = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await dflash([...small, ...args], folder);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await failure("--min-ready", "5")).toBe(
    "dflash: --min-ready 5: expected a whole number from 1 to the queue's capacity, 3\n",
  );
  expect(await failure("--buckets", "64,banana")).toMatch(/whole number from 4 to/);
});
