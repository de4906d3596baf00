import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { dflashBlockMask, type BlockMask } from "@dflash/block-mask";
import { cases, dflashOptions, type Case } from "./cases.ts";

/** What one builder took on one case, in ms; pytorch.py prints the same fields. */
export interface Result {
  readonly case: Case;
  readonly builder: string;
  readonly device: string;
  /** The first call of the case. */
  readonly first: number;
  readonly median: number;
  /** 10th percentile. */
  readonly low: number;
  /** 90th percentile. */
  readonly high: number;
  readonly n: number;
  /** A hash of the eight index arrays in their valid ranges. */
  readonly fingerprint: string;
}

/** What the arrays of one mask take, in bytes, the row ranges behind it included. */
export interface Held {
  readonly tiles: number;
  /** As built. */
  readonly built: number;
  /** After FlexAttention's index arrays were read. */
  readonly expanded: number;
}

/** Builds the mask of a case again and again for `ms`, without and with FlexAttention's index arrays. */
export function measure(measured: Case, ms: number): { readonly built: Result; readonly expanded: Result } {
  const options = { ...dflashOptions(measured), tile: measured.tile };
  const build = (): BlockMask => dflashBlockMask(options);
  const expand = (): BlockMask => {
    const mask = build();
    indexArrays(mask);
    return mask;
  };
  return {
    built: timed(measured, "@dflash/block-mask", build, ms),
    expanded: timed(measured, "the same, all arrays read", expand, ms),
  };
}

/** Needs `--expose-gc`. */
export function measureMemory(measured: Case): Held {
  const options = { ...dflashOptions(measured), tile: measured.tile };
  const before = arrayBytes();
  const mask = dflashBlockMask(options);
  const built = arrayBytes() - before;
  indexArrays(mask);
  const expanded = arrayBytes() - before;
  const tiles = [...mask.kvNumBlocks, ...mask.fullKvNumBlocks].reduce((sum, count) => sum + count, 0);
  return { tiles, built, expanded };
}

function arrayBytes(): number {
  if (globalThis.gc === undefined) throw new Error("memory is measured under node --expose-gc");
  globalThis.gc();
  return process.memoryUsage().arrayBuffers;
}

function indexArrays(mask: BlockMask): Int32Array[] {
  return [mask.kvIndices, mask.fullKvIndices, mask.qIndices, mask.fullQIndices];
}

function timed(measured: Case, builder: string, build: () => BlockMask, ms: number): Result {
  let start = performance.now();
  const mask = build();
  const first = performance.now() - start;
  const times: number[] = [];
  for (const end = start + ms; start < end;) {
    start = performance.now();
    build();
    times.push(performance.now() - start);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)]!;
  return {
    case: measured,
    builder,
    device: "one thread",
    first,
    median: at(0.5),
    low: at(0.1),
    high: at(0.9),
    n: times.length,
    fingerprint: fingerprint(mask),
  };
}

/** What PyTorch takes on the cases that its device can hold; nothing where there is no PyTorch. */
export function measurePyTorch(): Result[] {
  const script = fileURLToPath(new URL("pytorch.py", import.meta.url));
  const { status, stdout, stderr } = spawnSync("python3", [script], { input: JSON.stringify(cases), encoding: "utf8" });
  if (status !== 0) {
    console.error(`PyTorch was not run: ${stderr?.trim().split("\n").at(-1) ?? "no python3"}`);
    return [];
  }
  return stdout
    .trim()
    .split("\n")
    .map((line): Result => JSON.parse(line));
}

function fingerprint(mask: BlockMask): string {
  const lists: [Int32Array, Int32Array, number][] = [
    [mask.kvNumBlocks, mask.kvIndices, mask.columns],
    [mask.fullKvNumBlocks, mask.fullKvIndices, mask.columns],
    [mask.qNumBlocks, mask.qIndices, mask.rows],
    [mask.fullQNumBlocks, mask.fullQIndices, mask.rows],
  ];
  const hash = createHash("sha256");
  for (const [counts, indices, width] of lists) {
    hash.update(Array.from(counts, (count, i) => indices.subarray(i * width, i * width + count).join(" ")).join("\n"));
  }
  return hash.digest("hex");
}
