import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { next, vocabSize } from "./ruleTarget.ts";

test("the rule leads through every token but the mask token", () => {
  const seen = new Set<number>();
  for (let token = 0; !seen.has(token); token = next(token)) seen.add(token);
  expect([...seen].toSorted((a, b) => a - b)).toEqual(Array.from({ length: vocabSize - 1 }, (_, token) => token));
});

test("a drafter learns a language that has one rule", async () => {
  const args = ["--import", "tsx", `${import.meta.dirname}/trainOnRule.ts`, "70"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  const lengths = [...stdout.matchAll(/acceptance length ([\d.]+) of 4/g)].map(([, length]) => Number(length));
  expect(lengths).toHaveLength(7);
  // Guessing gives 1 and a bit; the rule leaves nothing to guess.
  expect(lengths.at(-1)).toBeGreaterThan(2.5);
});
