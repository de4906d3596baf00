import { checkInteger, checkLength } from "./checkArgument.ts";
import type { RowRanges } from "./rowRanges.ts";

/** N blocks of B queries over the keys [context (S) | N·B noise]. */
export interface DflashOptions {
  /** The anchor of each block as an index into the context keys, 0 ≤ a ≤ S; length N. Packed rows: the absolute index. */
  readonly anchors: Int32Array;
  /** 0 for a block that is not used: its queries see nothing, and its anchor is not looked at. All are used unless given; length N. */
  readonly keep?: Uint8Array;
  /** B, the queries (and noise keys) of a block. */
  readonly blockSize: number;
  /** S, the number of context keys. */
  readonly contextLength: number;
  /** The first context key of each block's document, 0 ≤ start ≤ anchor; 0 unless given; length N. */
  readonly contextStarts?: Int32Array;
  /** W of a sliding layer: the query at offset o sees context keys j > a + o − W only; all of them unless given. */
  readonly slidingWindow?: number;
  /** Offset o sees its own block up to o only; otherwise the whole block. By default true where there is a slidingWindow. */
  readonly causalInBlock?: boolean;
}

/**
 * The mask of a DFlash drafter: a block's queries see the context strictly before the block's anchor (the target's
 * hidden state at the anchor does not exist yet when the drafter runs) and their own block, never another one.
 * The query at offset o of block i is row i·B + o. Sliding layers follow SpecForge: the window moves with the offset,
 * bounds the context only, and goes with a causal block. Throws a RangeError that names the argument.
 */
export function dflashRowRanges(options: DflashOptions): RowRanges {
  const contexts = dflashContextRanges(options);
  const { anchors, keep, blockSize, contextLength, slidingWindow = Infinity } = options;
  const causalInBlock = options.causalInBlock ?? options.slidingWindow !== undefined;
  const queryLength = anchors.length * blockSize;
  const bounds = new Int32Array(4 * queryLength);
  for (let block = 0, at = 0; block < anchors.length; block++) {
    if (keep?.[block] === 0) {
      at += 4 * blockSize;
      continue;
    }
    const start = contexts[2 * block]!;
    const end = contexts[2 * block + 1]!;
    const noise = contextLength + block * blockSize;
    for (let offset = 0; offset < blockSize; offset++) {
      bounds[at++] = Math.max(start, Math.min(end, end + offset - slidingWindow + 1));
      bounds[at++] = end;
      bounds[at++] = noise;
      bounds[at++] = noise + (causalInBlock ? offset + 1 : blockSize);
    }
  }
  return { queryLength, keyLength: contextLength + queryLength, bounds };
}

/**
 * The context that each block attends to, `[start, end)` of block i at 2·i: what any of its queries sees, so that
 * attention of the block runs over end − start + B keys. An unused block has [0, 0). Length 2·N.
 */
export function dflashContextRanges(options: DflashOptions): Int32Array {
  const { anchors, keep, blockSize, contextLength, contextStarts, slidingWindow = Infinity } = options;
  checkInteger("blockSize", blockSize, 1);
  checkInteger("contextLength", contextLength, 0);
  if (slidingWindow !== Infinity) checkInteger("slidingWindow", slidingWindow, 1);
  if (keep) checkLength("keep", keep.length, anchors.length, "one a block, as anchors");
  if (contextStarts) checkLength("contextStarts", contextStarts.length, anchors.length, "one a block, as anchors");
  checkInteger("contextLength + anchors.length · blockSize", contextLength + anchors.length * blockSize, 0);
  const ranges = new Int32Array(2 * anchors.length);
  for (let block = 0; block < anchors.length; block++) {
    if (keep?.[block] === 0) continue;
    const anchor = anchors[block]!;
    checkInteger(`anchors[${block}]`, anchor, 0, contextLength);
    const first = contextStarts?.[block] ?? 0;
    checkInteger(`contextStarts[${block}]`, first, 0, anchor);
    ranges[2 * block] = Math.min(anchor, Math.max(first, anchor - slidingWindow + 1));
    ranges[2 * block + 1] = anchor;
  }
  return ranges;
}
