import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { engineProblem } from "@dflash/engine";
import type { HeaderRecord } from "@dflash/log-formatter";
import { expect, test } from "vitest";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { readLog, steps } from "../runLog.test-support.ts";

const missing = await engineProblem("tensorflow", { resolveFrom: import.meta.dirname });
const cores = availableParallelism();
const half = Math.max(1, Math.floor(cores / 2));
const small = ["--engine", "tensorflow", "--anchors", "2", "--rows", "1", "--max-length", "48"];
const start = ["train", ...small, "--steps", "4", "--checkpoint-every", "2"];
const last = "checkpoints/step-00000004";

test.skipIf(missing !== null)(
  `on TensorFlow a run's target has a lane of its own, and the losses of one inline; an older run stays as it was${missing === null ? "" : ` (skipped: ${missing})`}`,
  async () => {
    const folder = temporaryFolder();
    const run = async (out: string, args: readonly string[]) => {
      const { code, stderr } = await dflash(args, folder);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const records = readLog(join(folder, out));
      const header = records.findLast((record) => record.kind === "header") as HeaderRecord;
      const lanes = Object.keys(steps(records).at(-1)!.lanes).filter((lane) => lane.startsWith("target"));
      return { lanes, config: header.config, losses: steps(records).map(({ metrics }) => metrics["loss"]) };
    };
    const byItself = await run("a", [...start, "--out", "a"]);
    const workers = cores > 1 ? 1 : 0;
    expect(byItself.config).toMatchObject({ targetWorkers: workers, threads: half });
    expect(byItself.lanes).toEqual([workers === 1 ? "target[0]" : "target"]);

    const inline = [...start, "--target-workers", "0"];
    const same = await run("b", [...inline, "--threads", String(half), "--out", "b"]);
    expect(same.lanes).toEqual(["target"]);
    expect(same.losses).toEqual(byItself.losses);

    const old = await run("c", [...inline, "--out", "c"]);
    expect(old.config).toMatchObject({ targetWorkers: 0, threads: cores });
    const weights = (): Buffer => readFileSync(join(folder, "c", last, "model.safetensors"));
    const whole = weights();
    rmSync(join(folder, "c", last), { recursive: true });
    const file = join(folder, "c/config.json");
    const { targetWorkers: _, ...config }: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...config, threads: null }));
    const resumed = await run("c", ["train", "--resume", "c"]);
    expect(resumed.lanes).toEqual(["target"]);
    expect(weights().equals(whole)).toBe(true);
  },
);
