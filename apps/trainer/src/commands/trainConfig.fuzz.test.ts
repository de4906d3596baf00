import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { dflash, temporaryFolder } from "../dflash.test-support.ts";
import { readTrainSettings } from "../train/trainConfig.ts";
import { trainFieldGroups, trainFields } from "../train/trainFields.ts";
import { addFlags } from "../settings/addFlags.ts";
import { flagOf } from "../settings/field.ts";
import type { Given } from "../settings/given.ts";
import { givenFlags } from "../settings/givenFlags.ts";
import { readConfigFile } from "../settings/readConfigFile.ts";

const names = Object.keys(trainFields);
const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, fc.string({ maxLength: 12 }));
const value = fc.oneof(
  fc.integer({ min: -5, max: 5000 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("auto", "error", "wasm", "cosine", "linear", "", " ", "\0", "../..", "1e400", "0x10", "-0"),
  fc.string({ unit: "binary" }),
  fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 4 }),
  fc.object({ maxDepth: 2 }),
);
const file = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.tuple(name, value), { maxLength: 8 }).map((all) => stringify(Object.fromEntries(all))),
  },
  { weight: 2, arbitrary: fc.dictionary(name, value).map((all) => JSON.stringify(all)) },
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom(
    "[".repeat(500),
    "a: &a [*a, *a]",
    "steps: 1\nsteps: 2",
    "? {a: 1}\n: 2",
    "--- 1\n--- 2",
    "%TAG",
    "<<: 1",
  ),
);
const flag = fc.tuple(
  name.map(flagOf),
  fc.oneof(
    value.map((each) => JSON.stringify(each)),
    fc.string(),
  ),
);
const flags = fc.array(flag, { maxLength: 6 }).map((all) => all.flat().filter((text) => !text.includes("\0")));

const command = new Command()
  .exitOverride()
  .configureOutput({ writeErr: () => {} })
  .allowExcessArguments();
addFlags(command, trainFieldGroups);

/** What a command line and a file give, without starting a run. Commander's complaints are thrown. */
function read(folder: string, text: string, args: readonly string[]): unknown {
  const path = join(folder, "config.yaml");
  writeFileSync(path, text);
  command.parse(args, { from: "user" });
  const given: Given = new Map([...readConfigFile(path), ...givenFlags(command, [])]);
  return readTrainSettings(given);
}

/** Messages for the user. */
function messagesOf(error: unknown): string[] {
  const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return all.map((each) => (each instanceof Error ? each.message.trim() : String(each)));
}

/** A message that names its place: a flag, a line of the file, or what commander says of an unknown flag. */
const isPlaced = (message: string): boolean =>
  /^(error: |.*config\.yaml|--[\w-]+(\[\d+\])? )/.test(message) && !/is not a function|Cannot read/.test(message);

test("2,000 command lines and files are read or refused in lines, none of them an accident", () => {
  const folder = temporaryFolder();
  const messages: string[] = [];
  let accepted = 0;
  fc.assert(
    fc.property(file, flags, (text, args) => {
      try {
        read(folder, text, args);
        accepted++;
      } catch (error) {
        messages.push(...messagesOf(error));
      }
    }),
    { numRuns: 2000 },
  );
  expect(messages.filter((message) => !isPlaced(message))).toEqual([]);
  expect(accepted).toBeGreaterThan(0);
});

test.runIf(process.env["DFLASH_LONG"] === "1")(
  "40 processes neither print a stack nor hang (long lane: DFLASH_LONG=1)",
  async () => {
    const cases = fc.sample(fc.tuple(file, flags), 40);
    const folder = temporaryFolder();
    for (const [text, args] of cases) {
      writeFileSync(join(folder, "config.yaml"), text);
      const { code, stderr } = await dflash(["train", "--config", "config.yaml", "--print-config", ...args], folder);
      expect(stderr).not.toMatch(/^ +at /m);
      expect([code, stderr.startsWith("dflash: ")]).toEqual(stderr === "" ? [0, false] : [1, true]);
    }
  },
  600_000,
);
