import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dflash, repository, temporaryFolder } from "../dflash.test-support.ts";

// A target, features, positions, labels or a head that don't fit one another leave the loss low and the acceptance at 1.
test.runIf(process.env["DFLASH_LONG"] === "1")(
  "a drafter that has learnt one record by heart drafts its answer in whole blocks (with DFLASH_LONG=1)",
  async () => {
    const folder = temporaryFolder();
    const [record] = readFileSync(join(repository, "data/gsm8k/test.tiny-target.jsonl"), "utf8").split("\n", 1);
    writeFileSync(join(folder, "one.jsonl"), `${record}\n`);
    const engine = ["--engine", "wasm", "--data", "one.jsonl"];
    const learn = ["--rows", "1", "--anchors", "64", "--steps", "120", "--learning-rate", "0.003"];
    expect((await dflash(["train", ...engine, ...learn, "--out", "run"], folder)).code).toBe(0);

    const evaluate = ["eval", "--drafter", "run/drafter", ...engine, "--prompts", "1", "--json", "eval.json"];
    expect((await dflash(evaluate, folder)).code).toBe(0);
    const { acceptance, blockSize, identical } = JSON.parse(readFileSync(join(folder, "eval.json"), "utf8"));
    expect({ blockSize, identical }).toEqual({ blockSize: 8, identical: 1 });
    expect(acceptance.pooled).toBeGreaterThan(7);
  },
  600_000,
);
