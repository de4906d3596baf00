import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repository, temporaryFolder } from "../dflash.test-support.ts";
import { readTrainSettings } from "../train/trainConfig.ts";
import { trainFieldGroups, trainFields } from "../train/trainFields.ts";
import { configSchema } from "./configSchema.ts";
import type { Field } from "./field.ts";
import type { Given } from "./given.ts";
import { printConfig } from "./printConfig.ts";
import { readConfigFile } from "./readConfigFile.ts";

const schema = configSchema("Settings of dflash train", trainFieldGroups);

/** A config file's settings. */
function givenIn(text: string): Given {
  const path = join(temporaryFolder(), "train.yaml");
  writeFileSync(path, text);
  return readConfigFile(path);
}

/** The lines that a config file is refused with. */
function refusal(text: string): string[] {
  try {
    readTrainSettings(givenIn(text));
  } catch (error) {
    const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
    return all.map((each) => (each as Error).message.replace(/^.*train\.yaml/, "train.yaml"));
  }
  return [];
}

test("every default fits its own schema", () => {
  for (const [name, { schema: values, standard }] of Object.entries<Field>(trainFields))
    expect([name, values.safeParse(standard).success]).toEqual([name, true]);
});

test("the schema in docs is the one of these settings (dflash train --print-schema)", () => {
  const committed = readFileSync(join(repository, "docs/train-config.schema.json"), "utf8");
  expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(schema)));
});

test("editors, which go by the schema, and the command line agree on what is right", () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
  const name = fc.oneof(fc.constantFrom(...Object.keys(trainFields)), fc.constantFrom("setps", "toString"));
  const value = fc.oneof(
    fc.integer({ min: -2, max: 70 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1, max: 2 }),
    fc.constantFrom("auto", "wasm", "skip", "linear", "bf16", "float32", "decay", "pair", "x", ""),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 3 }),
  );
  const counts = { right: 0, wrong: 0 };
  fc.assert(
    fc.property(name, value, (key, content) => {
      const given: Given = new Map([[key, { value: content, place: key, folder: "/" }]]);
      let right = true;
      try {
        readTrainSettings(given);
      } catch (error) {
        // Files that aren't there, and settings that don't go together, are no matter of the schema.
        right = / no such (folder|file)|queue's capacity|needs --engine/.test(String(error));
      }
      counts[right ? "right" : "wrong"]++;
      expect({ key, content, right: validate({ [key]: content }) }).toEqual({ key, content, right });
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(counts.right, counts.wrong)).toBeGreaterThan(50);
});

describe("a config file", () => {
  test("is judged as a whole, each line with its place", () => {
    expect(refusal("steps: 0\nsetps: 5\nbuckets: [64, 2]\nminReady: 9\nqueue: 4\nloss: decoy\n")).toEqual([
      "train.yaml:1: steps 0: expected a whole number from 1 to 100000000",
      "train.yaml:2: setps: no such setting; did you mean steps?",
      "train.yaml:3: buckets[1] 2: expected a whole number from 4 to 1048576",
      "train.yaml:6: loss decoy: expected one of decay, d-pace, soft-target",
      "train.yaml:4: minReady 9: expected a whole number from 1 to the queue's capacity, 4",
    ]);
  });

  test("traces and profiles steps that the run has", () => {
    expect(refusal("steps: 9\ntrace: 3:9\ncpuProfile: 9:9\n")).toEqual([]);
    expect(refusal("steps: 5\ntrace: 3:9\ncpuProfile: 4:2\n")).toEqual([
      "train.yaml:2: trace 3:9: expected an end no later than the run's last step, 5",
      "train.yaml:3: cpuProfile 4:2: expected a range of steps such as 10:20, its end not before its start",
    ]);
  });

  test("gives each target worker a GPU where a process holds one", () => {
    const gpus = "engine: tensorflow-gpu\ntargetDevices: [1, 2]\n";
    expect(refusal(`${gpus}targetWorkers: 2\n`)).toEqual([]);
    expect(refusal(`${gpus}targetWorkers: 3\n`)).toEqual([
      "train.yaml:2: targetDevices [1,2]: expected a GPU for each of the 3 target workers",
    ]);
    expect(refusal("targetDevices: [0]\ntargetWorkers: 1\n")[0]).toMatch(
      /targetDevices .0.: needs --engine tensorflow-gpu/,
    );
  });

  test("that is no YAML, or no settings, is refused at its line", () => {
    expect(refusal("steps: 3\nrows: [1, 2\n")[0]).toMatch(/^train\.yaml:3: /);
    expect(refusal("steps: 1\nsteps: 2\n")[0]).toMatch(/^train\.yaml:2: .*unique/);
    expect(refusal("- 1\n")).toEqual(['train.yaml: expected settings, such as "steps: 300", one a line']);
    expect(refusal("[".repeat(20_000))).toEqual(["train.yaml:1: nested too deeply for a config"]);
  });

  test("of another encoding, or with a value that holds itself, is refused", () => {
    const path = join(temporaryFolder(), "train.yaml");
    writeFileSync(path, Buffer.from("out: caf\xe9\n", "latin1"));
    expect(() => readConfigFile(path)).toThrow(/train\.yaml: is not UTF-8; save it as UTF-8$/);
    expect(refusal("data: &a\n  b: *a\n")).toEqual(["train.yaml:1: holds itself by an alias"]);
  });

  test("is told its numbers as they are written, those too that JSON has no word for", () => {
    expect(refusal("steps: .nan\nrows: -.inf\n")).toEqual([
      expect.stringMatching(/^train\.yaml:1: steps NaN: expected a whole number/),
      expect.stringMatching(/^train\.yaml:2: rows -Infinity: expected a whole number/),
    ]);
  });

  test("is told of numbers that quotes make text", () => {
    expect(refusal('steps: "5"\n')).toEqual([
      'train.yaml:1: steps "5": is text, leave out the quotes; expected a whole number from 1 to 100000000',
    ]);
  });

  test("must be a file: a pipe that nobody writes to would be waited for", () => {
    const path = join(temporaryFolder(), "train.yaml");
    execFileSync("mkfifo", [path]);
    expect(() => readConfigFile(path)).toThrow(/train\.yaml: is no file; save the settings in one$/);
  });

  test("may be JSON, empty, or name its schema", () => {
    expect(readTrainSettings(givenIn('{"$schema": "train.schema.json", "steps": 7}')).given).toEqual({ steps: 7 });
    expect(readTrainSettings(givenIn("# nothing yet\n")).given).toEqual({});
  });

  test("means paths from its own folder", () => {
    const path = join(temporaryFolder(), "train.yaml");
    writeFileSync(path, "data: train.yaml\nout: ../run\n");
    const { values } = readTrainSettings(readConfigFile(path));
    expect(values).toMatchObject({ data: path, out: join(path, "../../run") });
  });

  test("that was printed gives the same settings again", () => {
    const given = givenIn("steps: 7\nbuckets: [32, 64]\nengine: wasm\nlearningRate: 1e-4\n");
    const { values } = readTrainSettings(given);
    const printed = printConfig(values, given);
    expect(printed).toMatch(/^steps: 7 # .*train\.yaml:1: steps$/m);
    expect(readTrainSettings(givenIn(printed)).values).toEqual(values);
  });
});
