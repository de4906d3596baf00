import type { DflashOptions } from "@dflash/block-mask";

/** A DFlash mask to build; pytorch.py reads the same fields. */
export interface Case {
  readonly contextLength: number;
  readonly blocks: number;
  readonly blockSize: number;
  readonly tile: number;
  readonly slidingWindow?: number;
}

/** The training shape first; then longer rows, and both ends with a sliding window. */
export const cases: readonly Case[] = [
  { contextLength: 3072, blocks: 512, blockSize: 16, tile: 128 },
  { contextLength: 8192, blocks: 512, blockSize: 16, tile: 128 },
  { contextLength: 32_768, blocks: 2048, blockSize: 16, tile: 128 },
  { contextLength: 131_072, blocks: 8192, blockSize: 16, tile: 128 },
  { contextLength: 3072, blocks: 512, blockSize: 16, tile: 128, slidingWindow: 2048 },
  { contextLength: 131_072, blocks: 8192, blockSize: 16, tile: 128, slidingWindow: 2048 },
];

/** The options of a case: one anchor at a scattered place in each of `blocks` equal stretches of the context, as in pytorch.py. */
export function dflashOptions({ contextLength, blocks, blockSize, slidingWindow }: Case): DflashOptions {
  const stretch = contextLength / blocks;
  return {
    anchors: Int32Array.from({ length: blocks }, (_, i) => (i + (Math.imul(i, 0x9e3779b1) >>> 0) / 2 ** 32) * stretch),
    blockSize,
    contextLength,
    ...(slidingWindow !== undefined && { slidingWindow }),
  };
}

export function describe({ contextLength, blocks, blockSize, slidingWindow }: Case): string {
  return `${contextLength} × ${blocks} × ${blockSize}${slidingWindow === undefined ? "" : `, window ${slidingWindow}`}`;
}
