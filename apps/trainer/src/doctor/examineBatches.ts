import { availableMemory } from "node:process";
import { forCaller } from "../callerFolder.ts";
import { showProgress } from "../showProgress.ts";
import type { TrainSettings } from "../train/trainConfig.ts";
import { measureRun } from "./measureRun.ts";
import { stepCost } from "./stepCost.ts";
import { suggestBatches } from "./suggestBatches.ts";

/** Batches whose cost is measured: one, one with more slots, one with more tokens. */
const measured = [
  [2, 16],
  [4, 64],
  [16, 8],
] as const;

/** Part of the free memory that a run may take; others need some, and sizes vary from step to step. */
const usable = 0.8;

/** A WebAssembly heap ends there. */
const wasmBytes = 2 ** 32;

/** Trains briefly at three sizes and says which batches fit in so much memory, null for what is free, as flags to paste. */
export async function examineBatches({ values, given }: TrainSettings, memory: number | null): Promise<void> {
  const progress = showProgress();
  const run = async ([rows, anchors]: (typeof measured)[number]) => {
    progress.say(`training two steps with --rows ${rows} --anchors ${anchors}`);
    try {
      return await measureRun(given, rows, anchors);
    } finally {
      progress.end();
    }
  };
  const [first, ...others] = [await run(measured[0]), await run(measured[1]), await run(measured[2])];
  const { engine } = first;
  if (engine === "webgpu" || engine === "tensorflow-gpu") {
    console.log(`batch  no suggestion: how much memory the device of ${engine} has left can't be seen from here`);
    return;
  }
  const { maxLength, blockSize } = values;
  const free = memory ?? usable * availableMemory();
  const bytes = engine === "wasm" ? Math.min(free, wasmBytes) : free;
  const suggestions = suggestBatches({ cost: stepCost([first, ...others]), bytes, maxLength, blockSize });
  const records = `records of up to ${maxLength} tokens, blocks of ${blockSize}`;
  console.log(
    `batch  for ${forCaller(values.target)} on ${engine}, ${records}, the most that fits in ${gibibytes(bytes)}:`,
  );
  if (suggestions.length === 0)
    console.log(`    nothing: already ${gibibytes(first.bytes)} with --rows 2; a shorter --max-length needs less`);
  for (const { rows, anchors, bytes: most, ms } of suggestions)
    console.log(
      `    ${`--rows ${rows} --anchors ${anchors}`.padEnd(28)}at most ${gibibytes(most)}, ${seconds(ms)} a step`,
    );
}

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
