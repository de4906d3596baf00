import * as fc from "fast-check";
import type { TileLists } from "./blockMask.ts";
import type { DflashOptions } from "./dflashRowRanges.ts";
import type { MaskPredicate } from "./maskPredicate.ts";

/** The DFlash mask spelled out element by element: which key positions a query at offset o of a block anchored at a may see. */
export function dflashByDefinition(options: DflashOptions): MaskPredicate {
  const { anchors, keep, blockSize, contextLength, contextStarts, slidingWindow } = options;
  const causalInBlock = options.causalInBlock ?? slidingWindow !== undefined;
  return (query, key) => {
    const block = Math.floor(query / blockSize);
    const offset = query % blockSize;
    const anchor = anchors[block]!;
    if (keep?.[block] === 0) return false;
    if (key < contextLength) {
      const inDocument = key >= (contextStarts?.[block] ?? 0);
      const inWindow = slidingWindow === undefined || key >= anchor + offset - (slidingWindow - 1);
      return key < anchor && inDocument && inWindow;
    }
    const keyBlock = Math.floor((key - contextLength) / blockSize);
    const keyOffset = (key - contextLength) % blockSize;
    return keyBlock === block && (!causalInBlock || keyOffset <= offset);
  };
}

/** Every element of the mask, 1 where visible, [batch, heads, qLen, kvLen]. */
export function denseByDefinition(
  predicate: MaskPredicate,
  [batch, heads, qLen, kvLen]: readonly [number, number, number, number],
): Uint8Array {
  const dense = new Uint8Array(batch * heads * qLen * kvLen);
  let at = 0;
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      for (let q = 0; q < qLen; q++) {
        for (let k = 0; k < kvLen; k++) dense[at++] = predicate(q, k, b, h) ? 1 : 0;
      }
    }
  }
  return dense;
}

/** The kind of each tile of one dense mask by counting its elements: 0 empty, 1 partial, 2 full, row after row. */
export function tileKindsByCounting(
  dense: Uint8Array,
  qLen: number,
  kvLen: number,
  tileQ: number,
  tileKv: number,
): number[] {
  const kinds: number[] = [];
  for (let row = 0; row < qLen; row += tileQ) {
    for (let column = 0; column < kvLen; column += tileKv) {
      let visible = 0;
      for (let q = row; q < Math.min(qLen, row + tileQ); q++) {
        for (let k = column; k < Math.min(kvLen, column + tileKv); k++) visible += dense[q * kvLen + k]!;
      }
      kinds.push(visible === 0 ? 0 : visible === tileQ * tileKv ? 2 : 1);
    }
  }
  return kinds;
}

/** A mask's eight index arrays, each as one list a row (or column), cut to its valid range. */
export function validLists(lists: TileLists, rows: number, columns: number): Record<string, number[][]> {
  return {
    kv: cut(lists.kvNumBlocks, lists.kvIndices, columns),
    fullKv: cut(lists.fullKvNumBlocks, lists.fullKvIndices, columns),
    q: cut(lists.qNumBlocks, lists.qIndices, rows),
    fullQ: cut(lists.fullQNumBlocks, lists.fullQIndices, rows),
  };
}

/** DFlash masks of every variant: anchors at 0, S, side by side or equal, unused blocks, documents, windows, causal blocks. */
export const anyDflash: fc.Arbitrary<DflashOptions> = fc
  .record({
    contextLength: fc.integer({ min: 0, max: 60 }),
    blocks: fc.integer({ min: 0, max: 7 }),
    blockSize: fc.integer({ min: 1, max: 9 }),
  })
  .chain(({ contextLength, blocks, blockSize }) => {
    const perBlock = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
      fc.array(value, { minLength: blocks, maxLength: blocks });
    return fc
      .record({
        anchors: perBlock(fc.integer({ min: 0, max: contextLength })),
        keep: fc.option(perBlock(fc.integer({ min: 0, max: 1 })), { nil: undefined }),
        documentLength: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
        slidingWindow: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
        causalInBlock: fc.option(fc.boolean(), { nil: undefined }),
      })
      .map(({ anchors, keep, documentLength, slidingWindow, causalInBlock }) => ({
        anchors: Int32Array.from(anchors),
        blockSize,
        contextLength,
        ...(keep && { keep: Uint8Array.from(keep) }),
        ...(documentLength && { contextStarts: Int32Array.from(anchors, (a) => a - (a % documentLength)) }),
        ...(slidingWindow !== undefined && { slidingWindow }),
        ...(causalInBlock !== undefined && { causalInBlock }),
      }));
  });

function cut(counts: Int32Array, indices: Int32Array, width: number): number[][] {
  return Array.from(counts, (count, line) => Array.from(indices.subarray(line * width, line * width + count)));
}
