export type { BlockMask, BlockMaskShape, TileLists } from "./blockMask.ts";
export { causalRowRanges, type CausalRowRangesOptions } from "./causalRowRanges.ts";
export { and, not, or, perBatch, perHead } from "./combine.ts";
export {
  createBlockMask,
  dflashBlockMask,
  type CreateBlockMaskOptions,
  type Stopwatch,
  type TileOptions,
} from "./createBlockMask.ts";
export { dflashContextRanges, dflashRowRanges, type DflashOptions } from "./dflashRowRanges.ts";
export { blockMaskSvg, type BlockMaskSvgOptions } from "./drawBlockMask.ts";
export { causal, dflash, documents, fromRowRanges, prefix, slidingWindow } from "./knownPredicates.ts";
export { createMaskCache, type MaskCache, type MaskCacheOptions } from "./maskCache.ts";
export type { KnownMaskPredicate, MaskPredicate, MaskSlice, SeeKeys, SeenKeys } from "./maskPredicate.ts";
export { denseFromRowRanges, toRowRanges, type RowRanges, type ToRowRangesOptions } from "./rowRanges.ts";
