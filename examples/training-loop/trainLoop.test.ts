import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkFormatter } from "@dflash/log-formatter/testing";
import { expect, test } from "vitest";
import arrowFormatter from "./arrowFormatter.ts";

const data = join(import.meta.dirname, "../../data");

test("a real target is trained for, and each step is printed by the loop's own formatter", async () => {
  const chats = join(data, "gsm8k/train.tiny-target.jsonl");
  const args = ["--import", "tsx", `${import.meta.dirname}/trainLoop.ts`, join(data, "tiny-target"), chats, "4"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => /^\d+ [↓↑] loss \d+\.\d{3} {2}\d+ ms, mostly [\w/]+$/.test(line))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  const losses = lines.map((line) => Number(/loss ([\d.]+)/.exec(line)![1]));
  expect(losses[3]).toBeLessThan(losses[0]! / 2);
});

test("the formatter stands hostile records", () => {
  expect(() => checkFormatter(arrowFormatter)).not.toThrow();
});
