import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";
import type { LeftOut } from "../train/leftOut.ts";

const short = ["--threads", "1", "--max-length", "64", "--engine", "wasm"];
const train = ["train", ...short, "--rows", "1", "--anchors", "2"];

afterEach(() => vi.unstubAllEnvs());

test("a drafter trains on captured hidden states as on those of the target, rounded as the files are", async () => {
  const folder = temporaryFolder();
  const losses = (run: string): unknown[] =>
    steps(readLog(join(folder, run))).map(({ metrics, tags }) => [metrics["loss"], tags.includes("skipped")]);

  const captured = await dflash(["capture", ...short, "--records", "6", "--out", "states"], folder);
  expect(captured).toMatchObject({ code: 0, stderr: "" });
  expect(captured.stdout).toContain("6 records written to states, 0 were there");
  const files = readdirSync(join(folder, "states"));
  expect(files).toHaveLength(6);
  for (const file of files) expect(file).toMatch(/^hs_\d+\.safetensors$/);

  const online = await dflash(
    [...train, "--steps", "4", "--target-workers", "1", "--wire", "bfloat16", "--out", "a"],
    folder,
  );
  const offline = await dflash([...train, "--steps", "4", "--hidden-states", "states", "--out", "b"], folder);
  expect([online, offline]).toMatchObject([
    { code: 0, stderr: "" },
    { code: 0, stderr: "" },
  ]);
  expect(losses("b")).toEqual(losses("a"));
  expect(Object.keys(steps(readLog(join(folder, "b")))[0]!.lanes)).not.toContain("target");

  const sharded = await dflash(
    ["capture", ...short, "--records", "6", "--records-per-file", "4", "--out", "shards"],
    folder,
  );
  expect(sharded).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(join(folder, "shards"))).toHaveLength(2);
  const fromShards = await dflash([...train, "--steps", "4", "--hidden-states", "shards", "--out", "e"], folder);
  expect(fromShards).toMatchObject({ code: 0, stderr: "" });
  expect(losses("e")).toEqual(losses("a"));

  // Whichever the first step needs, one of them is missing now.
  for (const file of files.slice(1)) rmSync(join(folder, "states", file));
  const broken = await dflash([...train, "--steps", "4", "--hidden-states", "states", "--out", "c"], folder);
  expect(broken.code).toBe(1);
  expect(broken.stderr).toMatch(
    /^dflash: .*hs_\d+\.safetensors: no such file; dflash capture --out \S*states adds it, given the same target, data and longest length\n$/,
  );
  writeFileSync(join(folder, "states", files[1]!), "cut");
  const again = await dflash(["capture", ...short, "--records", "6", "--out", "states"], folder);
  expect(again.stdout).toContain("5 records written to states, 1 were there");
  rmSync(join(folder, "states", files[1]!));

  const left = await dflash(
    [...train, "--steps", "3", "--hidden-states", "states", "--on-bad", "skip", "--out", "d"],
    folder,
  );
  expect(left).toMatchObject({ code: 0, stderr: "" });
  const named = readLog(join(folder, "d")).filter((record) => record.kind === "event");
  const bad = named.filter(({ name }) => name === "bad-hidden-states").map(({ data }) => data as LeftOut);
  // The target is ahead: how far it came, and so how many it missed, is a matter of time; all but six are missing, an event a step.
  expect(bad.length).toBeGreaterThan(0);
  expect(bad.length).toBeLessThanOrEqual(3);
  const [{ count, message, records }] = bad as [LeftOut];
  expect(message).toContain(`${count} record`);
  expect(records).toHaveLength(Math.min(3, count));
  for (const { record, reason } of records) expect(reason).toContain(`hs_${record}.safetensors: no such file`);
});

test("a model's name means the one in the cache, or one that is not there", async () => {
  const folder = temporaryFolder();
  const storage = join(folder, "models--somebody--tiny");
  mkdirSync(join(storage, "refs"), { recursive: true });
  mkdirSync(join(storage, "snapshots"));
  writeFileSync(join(storage, "refs/main"), "a".repeat(40));
  symlinkSync(join(repository, "data/tiny-target"), join(storage, "snapshots", "a".repeat(40)));
  vi.stubEnv("HF_HUB_CACHE", folder);
  vi.stubEnv("HF_ENDPOINT", "http://127.0.0.1:1");
  const cached = await dflash(
    ["capture", ...short, "--target", "somebody/tiny", "--records", "1", "--out", "states"],
    folder,
  );
  expect(cached).toMatchObject({ code: 0, stderr: "" });
  expect(cached.stdout).toContain(`models--somebody--tiny/snapshots/${"a".repeat(40)}: layers `);
  const missing = await dflash([...train, "--target", "nobody/nothing"], folder);
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^dflash: nobody\/nothing: fetch failed \(.*\); without a network give the folder of a model\n$/,
    ),
  });
});
