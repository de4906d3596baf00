import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { captureCommand } from "../commands/capture.ts";
import { evalCommand } from "../commands/eval.ts";
import { temporaryFolder } from "../dflash.test-support.ts";

/** The options of a command that gets a config file and further flags, without running it. */
async function read(command: Command, text: string, ...flags: string[]): Promise<Record<string, unknown>> {
  const folder = temporaryFolder();
  const file = join(folder, "config.yaml");
  writeFileSync(file, text);
  const { config: _, ...options } = (
    await command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .action(() => {})
      .parseAsync(["--config", file, ...flags], { from: "user" })
  ).opts<Record<string, unknown>>();
  return JSON.parse(JSON.stringify(options).replaceAll(folder, "FOLDER")) as Record<string, unknown>;
}

test("flags may stand in a file, which paths in it are relative to; the command line comes over it", async () => {
  const text = "drafter: runs/first\nprompts: 5\nbaseline: false\nthreads: 2\ntemperature: 0.5\n";
  expect(await read(evalCommand(), text, "--prompts", "7")).toMatchObject({
    drafter: "FOLDER/runs/first",
    prompts: 7,
    baseline: false,
    threads: 2,
    temperature: 0.5,
    maxNewTokens: 128,
  });
  const before = evalCommand();
  before.setOptionValueWithSource("prompts", 3, "cli");
  expect(await read(before, text)).toMatchObject({ prompts: 3 });
  expect(await read(captureCommand(), '{ "out": "states", "onBad": "skip" }')).toMatchObject({
    out: "FOLDER/states",
    onBad: "skip",
  });
});

test("all that is wrong in a file is said, each with its line", async () => {
  const text = "drafter: d\nprompts: 0\ntemprature: 1\nbaseline: maybe\nmatmulPrecision: fp8\ntemperature: .nan\n";
  const error: unknown = await read(evalCommand(), text).catch((thrown: unknown) => thrown);
  expect(
    (error as AggregateError).errors.map((each: Error) => each.message.replace(/.*config.yaml/, "config.yaml")),
  ).toEqual([
    "config.yaml:2: prompts 0: Expected a whole number from 1 to 2147483647.",
    "config.yaml:3: temprature: no such setting; did you mean temperature?",
    "config.yaml:4: baseline maybe: expected true or false",
    "config.yaml:5: matmulPrecision fp8: Allowed choices are fp32, bf16.",
    expect.stringMatching(/^config\.yaml:6: temperature NaN: /),
  ]);
});
